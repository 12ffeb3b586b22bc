// What the clients of each dialect send and check, row by row: each row is a test here, a test
// elsewhere, or a reason why the service does something else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { espeak, silence, joined } from "../fixtures/flite.ts";
import { clientFacts } from "./client-facts.ts";
import {
  bearer,
  field,
  fileOf,
  openDialectService,
  shortSpeech,
  shortText,
  type DialectService,
} from "./dialect-service.ts";
import { bytesOf, openDialectStream } from "./dialect-stream.ts";

let dialects: DialectService;
let short: Buffer;

before(async () => {
  dialects = await openDialectService();
  short = shortSpeech();
});
after(() => dialects[Symbol.asyncDispose]());

const folder = join(import.meta.dirname, "../..");
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const verbose = field("response_format", "verbose_json");
const granularities = ["word", "segment"].map((each) => field("timestamp_granularities[]", each));

/** The checks of rows, by their names in client-facts.ts. */
const checks: Readonly<Record<string, () => Promise<void>>> = {
  async "Open WebUI: an error, then without a language"() {
    const headers = {
      ...bearer(dialects.service.key),
      "x-openwebui-user-name": "Gu%C3%B0r%C3%BAn",
      "x-openwebui-user-email": "g@example.org",
    };
    const model = field("model", "whisper-1");
    const refused = await dialects.send([model, field("language", "xx"), fileOf(short)], {
      headers,
    });
    assert.equal(refused.status, 400);
    assert.match(refused.json.error.message, /^language: is "xx"/);
    const again = await dialects.send([model, fileOf(short)], { headers });
    assert.match(again.json.text, shortText);
  },

  async "n8n and ccbot: fixed names of models"() {
    for (const name of ["whisper-1", "gpt-4o-transcribe"]) {
      const parts = [field("model", name), field("temperature", "0"), fileOf(short)];
      const { status, json } = await dialects.send(parts);
      assert.equal(status, 200);
      assert.match(json.text, shortText);
    }
  },

  async "Nextcloud: models, verbose_json, the end of the last segment, Basic"() {
    const headers = { authorization: basic("admin", dialects.service.key) };
    const models = await fetch(`${dialects.service.address}/v1/models`, { headers });
    assert.ok(Array.isArray(Object(await models.json()).data));
    const file = { ...fileOf(short), fileName: "file.mp3", type: "audio/mpeg" };
    const { json } = await dialects.send([file, field("model", "whisper-1"), verbose], { headers });
    assert.ok(Math.abs(json.segments.at(-1).end - json.duration) < 1);
    const wrong = await dialects.send([file], { headers: { authorization: basic("a", "b") } });
    assert.equal(wrong.status, 401);
    assert.equal(wrong.json.error.code, "invalid_api_key");
  },

  async "Subtitle Edit: events with a line of their type, and no segment_id"() {
    const settings = [field("temperature", "0.20"), field("stream", "true")];
    const { content, headers } = await dialects.send([...settings, fileOf(short)]);
    assert.match(headers.get("content-type") ?? "", /^text\/event-stream/);
    const events = content.trim().split("\n\n");
    assert.equal(events.pop(), "data: [DONE]");
    const types = events.map((each) => /^event: (\S+)\ndata: \{"type":"\1"/.exec(each)?.[1]);
    assert.deepEqual([...new Set(types)], ["transcript.text.delta", "transcript.text.done"]);
    assert.ok(!content.includes("segment_id"));
    const { json } = await dialects.send([verbose, ...granularities, fileOf(short)]);
    assert.deepEqual(Object.keys(json.segments[0]).toSorted(), segmentMembers);
    assert.deepEqual(Object.keys(json.words[0]), ["word", "start", "end"]);
  },

  async "whisper-to-input: plain text, with the language only in the query"() {
    const query = "encode=true&task=transcribe&language=is&word_timestamps=false&output=txt";
    const path = `/v1/audio/transcriptions?${query}`;
    const parts = [{ ...fileOf(short), fileName: "@audio.m4a" }, field("response_format", "text")];
    const { content, headers } = await dialects.send(parts, { path });
    assert.match(headers.get("content-type") ?? "", /^text\/plain/);
    assert.match(content.trim(), shortText);
  },

  async "Pipecat: verbose_json, which it requests for metrics of Whisper"() {
    const parts = [fileOf(short), field("language", "is"), verbose];
    const { json } = await dialects.send(parts);
    for (const segment of json.segments) {
      for (const name of ["avg_logprob", "no_speech_prob", "compression_ratio"]) {
        assert.equal(typeof segment[name], "number", name);
      }
    }
  },

  async "Scriberr: words and segments"() {
    const { json } = await dialects.send([fileOf(short), verbose, ...granularities]);
    assert.equal(json.words.length, 4);
    assert.ok(json.segments.length > 0);
  },

  async "LiveKit over Deepgram: KeepAlive, no audio in silence, Finalize, CloseStream"() {
    const options =
      "model=nova-3&punctuate=true&smart_format=true&no_delay=true&interim_results=true";
    const audio = "encoding=linear16&sample_rate=16000&channels=1&vad_events=true&endpointing=25";
    const more = "filler_words=true&keywords=&profanity_filter=false&numerals=false&language=is";
    const stream = await openDialectStream(
      dialects.service.address,
      `/v1/listen?${options}&${audio}&${more}&mip_opt_out=false`,
      { headers: { authorization: `Token ${dialects.service.key}` } },
    );
    stream.sendAudio(bytesOf(espeak("við hittumst á kaffihúsinu")));
    stream.send({ type: "KeepAlive" });
    stream.send({ type: "Finalize" });
    await stream.waitFor((message) => message.from_finalize === true);
    stream.send({ type: "KeepAlive" });
    stream.send({ type: "CloseStream" });
    assert.equal((await stream.closed).code, 1000);
    const results = stream.messages.filter(({ type }) => type === "Results");
    assert.ok(stream.messages.some(({ type }) => type === "SpeechStarted"));
    for (const { metadata, channel } of results) {
      assert.equal(typeof metadata.request_id, "string");
      const [{ confidence, words }] = channel.alternatives;
      assert.ok(typeof confidence === "number" && Array.isArray(words));
    }
  },

  async "Bazarr: a key in the address, and no audio track"() {
    const audio = { ...fileOf(short), name: "audio_file" };
    const headers = { authorization: basic(dialects.service.key, "") };
    const answer = await dialects.send([audio], { path: "/asr?output=srt&language=is", headers });
    assert.match(answer.content, /^1\n00:00:0/);
    // It reads each JSON for its code of a language, and takes all else for a bad track.
    const none = await dialects.send([], { path: "/detect-language?encode=false", headers });
    assert.match(none.headers.get("content-type") ?? "", /^text\/plain/);
    assert.match(none.content, /^[^\n{]+\n$/);
  },

  async "jigasi: a conference that is silent for a while"() {
    const stream = await openDialectStream(dialects.service.address, "/vosk/is", {
      headers: bearer(dialects.service.key),
    });
    stream.send({ config: { sample_rate: 16_000 } });
    const speech = espeak("við hittumst á kaffihúsinu");
    stream.sendAudio(bytesOf(joined(speech, silence(20_000), speech)), 32_000);
    stream.sendRaw('{"eof" : 1}');
    assert.equal((await stream.closed).code, 1000);
    const texts = stream.messages.flatMap(({ text }) => text ?? []).join(" ");
    assert.equal(texts.match(/kaffihúsinu/g)?.length, 2);
  },
};

const segmentMembers = [
  "avg_logprob",
  "compression_ratio",
  "end",
  "id",
  "no_speech_prob",
  "seek",
  "start",
  "temperature",
  "text",
  "tokens",
];

for (const [client, facts] of Object.entries(clientFacts)) {
  describe(client, () => {
    for (const [fact, shown] of Object.entries(facts)) {
      if ("check" in shown) {
        test(fact, async () => {
          const check = checks[shown.check];
          assert.ok(check, `no check is called "${shown.check}"`);
          await check();
        });
      } else if ("file" in shown) {
        test(`${fact}: ${shown.file} shows it`, () => {
          const source = readFileSync(join(folder, shown.file), "utf8");
          assert.ok(source.includes(shown.test), `no test is called "${shown.test}"`);
        });
      } else {
        test(`${fact}: not so, ${shown.reason}`, () => {
          const text = readFileSync(join(folder, "docs/dialects.md"), "utf8").replaceAll("\n", " ");
          assert.ok(
            text.includes(shown.documented),
            `docs/dialects.md lacks "${shown.documented}"`,
          );
        });
      }
    }
  });
}

test("each check belongs to a row", () => {
  const named = Object.values(clientFacts).flatMap((facts) =>
    Object.values(facts).flatMap((shown) => ("check" in shown ? [shown.check] : [])),
  );
  assert.deepEqual(Object.keys(checks).toSorted(), [...new Set(named)].toSorted());
});
