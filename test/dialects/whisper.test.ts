// The servers of whisper.cpp and whisper-asr-webservice, as Bazarr and others call them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pcmOf } from "../spec/service.ts";
import {
  field,
  fileOf,
  openDialectService,
  recordingBytesMax,
  shortSpeech,
  shortText,
  type DialectService,
} from "./dialect-service.ts";
import type { FormPart } from "./form-body.ts";

let dialects: DialectService;
let short: Buffer;

before(async () => {
  dialects = await openDialectService();
  short = shortSpeech();
});
after(() => dialects[Symbol.asyncDispose]());

describe("whisper.cpp", () => {
  const infer = (...fields: FormPart[]) =>
    dialects.send([fileOf(short), ...fields], { path: "/inference" });

  test("each format has the media type that its server gives it", async () => {
    const types = {
      json: "application/json",
      text: "text/html; charset=utf-8",
      srt: "application/x-subrip",
      vtt: "text/vtt; charset=utf-8",
      verbose_json: "application/json",
    };
    for (const [format, type] of Object.entries(types)) {
      const answer = await infer(field("response_format", format));
      assert.equal(answer.status, 200, answer.content);
      assert.equal(answer.headers.get("content-type"), type);
      assert.match(answer.json?.text ?? answer.content, /Við hittumst/);
    }
  });

  test("the words are in their segments", async () => {
    const { json } = await infer(field("response_format", "verbose_json"));
    assert.equal(json.detected_language, "is");
    const [segment] = json.segments;
    assert.deepEqual(Object.keys(segment.words[0]), [
      "word",
      "start",
      "end",
      "t_dtw",
      "probability",
    ]);
    assert.equal(segment.words.map(({ word }: { word: string }) => word).join(" "), json.text);
    const bare = await infer(
      field("response_format", "verbose_json"),
      field("no_timestamps", "true"),
    );
    assert.equal(bare.json.segments[0].words, undefined);
  });

  test("an error is a text", async () => {
    const { status, json } = await dialects.send([field("language", "is")], { path: "/inference" });
    assert.equal(status, 400);
    assert.deepEqual(json, { error: "file: is required: a recording, as a file of the form" });
    const refused = await infer(field("translate", "true"));
    assert.equal(refused.status, 400);
    assert.match(refused.json.error, /cannot be translate/);
  });
});

describe("whisper-asr-webservice", () => {
  const audio = (value: Uint8Array = short): FormPart => ({ ...fileOf(value), name: "audio_file" });
  const asr = (query: string, ...parts: FormPart[]) =>
    dialects.send(parts.length === 0 ? [audio()] : parts, { path: `/asr${query}` });

  test("each output is plain text, as its clients expect", async () => {
    const expected = {
      txt: /^Við hittumst á kaffihúsinu\.?\n$/,
      srt: /^1\n00:00:\d\d,\d{3} --> 00:00:\d\d,\d{3}\nVið hittumst/,
      vtt: /^WEBVTT\n\n1\n00:00:\d\d\.\d{3} --> /,
      tsv: /^start\tend\ttext\n\d+\t\d+\tVið hittumst á kaffihúsinu\.?\n$/,
      json: /^\{"language":"is","segments":\[\{"id":0.*"text":"Við hittumst/,
    };
    for (const [output, form] of Object.entries(expected)) {
      const answer = await asr(`?output=${output}`);
      assert.equal(answer.status, 200, answer.content);
      assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
      assert.equal(answer.headers.get("asr-engine"), "hlust");
      const disposition = `attachment; filename="audio.${output}"`;
      assert.equal(answer.headers.get("content-disposition"), disposition);
      assert.match(answer.content, form);
    }
  });

  test("Bazarr sends raw samples without a header, more than OpenAI's clients may send", async () => {
    const silence = Buffer.alloc(recordingBytesMax);
    const query = "?task=transcribe&language=is&output=srt&encode=false&video_file=a%20film.mkv";
    const raw = (value: Uint8Array) => ({ ...audio(value), fileName: "film" });
    const answer = await asr(query, raw(Buffer.concat([silence, pcmOf(short)])));
    assert.equal(answer.status, 200, answer.content);
    assert.match(answer.content, /^1\n00:02:0\d,\d{3} --> 00:02:\d\d,\d{3}\nVið hittumst\s/);
    const odd = await asr(query, raw(Buffer.concat([pcmOf(short), Buffer.alloc(1)])));
    assert.equal(odd.status, 200, odd.content);
  });

  test("the language of the service is stated, since none is detected", async () => {
    const { status, json } = await dialects.send([audio()], { path: "/detect-language" });
    assert.equal(status, 200);
    assert.deepEqual(json, {
      detected_language: "icelandic",
      language_code: "is",
      confidence: 1,
    });
  });

  test("an error is a line that cannot be mistaken for subtitles", async () => {
    const rows = [
      ["?output=xml", 422, /output: must be txt, vtt, srt, tsv, json, not "xml"/],
      ["?task=translate&output=srt", 422, /task: cannot be "translate"/],
      ["?language=fr", 422, /language: is "fr", which has no installed model/],
    ] as const;
    for (const [query, status, message] of rows) {
      const answer = await asr(query);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
      assert.match(answer.content, message);
      assert.match(answer.content, /^[^\n]+\n$/);
    }
    const missing = await asr("", field("a", "b"));
    assert.equal(missing.status, 422);
    assert.match(missing.content, /^audio_file: is required/);
    const damaged = await asr("", audio(Buffer.from("nothing")));
    assert.equal(damaged.status, 400);
    await dialects.assertNothingLeft();
  });

  test("OpenAI's name of the part is understood too", async () => {
    const { content } = await asr("", fileOf(short));
    assert.match(content.trim(), shortText);
  });
});
