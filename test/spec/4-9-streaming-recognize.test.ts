// §4.9: streaming recognize, on WebSocket and gRPC.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { speak } from "../fixtures/flite.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";
import {
  finalsOf,
  openStream,
  secondsOf,
  streamingConfig,
  type StreamMessage,
  type TestStream,
} from "./stream.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const sentences = ["thank you very much for your letter", "the letter came in the morning"];
let service: TestService;
/** The two sentences, each followed by 1.5 s of silence. */
let speech: Buffer;

before(async () => {
  service = await openTestService();
  const silence = Buffer.alloc(48_000);
  speech = Buffer.concat(sentences.flatMap((text) => [pcmOf(speak(text)), silence]));
});
after(() => service[Symbol.asyncDispose]());

const open = () => openStream(service.address, { token: service.key });

async function recognize(
  config: unknown,
  audio: (stream: TestStream) => void,
): Promise<{ messages: readonly StreamMessage[]; code: number }> {
  const stream = await open();
  stream.send(config);
  audio(stream);
  stream.send({ audioContent: "" });
  return { code: await stream.closed, messages: stream.messages };
}

test("a stream returns interim results and a final result for each segment, and then ends", async () => {
  const config = streamingConfig({ enableWordTimeOffsets: true });
  const { messages, code } = await recognize(config, (stream) => {
    stream.sendAudio(speech);
  });
  assert.equal(code, 1000);
  const finals = finalsOf(messages);
  assert.deepEqual(
    finals.map(({ transcript }) => transcript),
    sentences.map((text) => `${text} `),
  );
  const results = messages.flatMap(({ result }) => result?.results ?? []);
  const interims = results.filter((result) => !("isFinal" in result));
  assert.ok(interims.length > 4);
  assert.equal(interims.length + finals.length, results.length);
  for (const { alternatives } of interims) assert.equal(alternatives.length, 1);
  const texts = results.map(({ alternatives }) => alternatives[0]?.transcript);
  for (const [at, text] of texts.entries())
    assert.notEqual(text, texts[at + 1], "only changes are sent");

  let before = 0;
  for (const { words = [] } of finals) {
    assert.ok(words.length > 4);
    for (const { startTime, endTime, word } of words) {
      assert.equal(word, word.trim());
      assert.ok(secondsOf(startTime) >= before && secondsOf(endTime) > secondsOf(startTime));
      before = secondsOf(endTime);
    }
  }
  // Times count from the start of the stream, so the second sentence begins after the first one and
  // its silence.
  const secondStart = secondsOf(finals[1]?.words?.[0]?.startTime ?? "0s");
  const firstEnd = secondsOf(finals[0]?.words?.at(-1)?.endTime ?? "0s");
  assert.ok(
    secondStart - firstEnd > 1.2 && secondStart - firstEnd < 2.5,
    `${firstEnd} ${secondStart}`,
  );
});

test("without interimResults there are only final results, with words only if requested", async () => {
  const config = streamingConfig({ maxAlternatives: 3 }, { interimResults: false });
  const { messages } = await recognize(config, (stream) => {
    stream.sendAudio(speech);
  });
  const results = messages.flatMap(({ result }) => result?.results ?? []);
  assert.equal(results.length, 2);
  for (const { isFinal, alternatives } of results) {
    assert.equal(isFinal, true);
    assert.ok(alternatives.length >= 1 && alternatives.length <= 3);
    for (const alternative of alternatives) {
      assert.equal("words" in alternative, false);
      assert.match(alternative.transcript, /\S $/);
    }
  }
});

test("any split of the same samples produces the same final results", async () => {
  const transcripts: ReturnType<typeof finalsOf>[] = [];
  const first = speech.subarray(0, 112_000);
  // The streams run one after another, because a slow machine accepts only one at a time.
  for (const chunkBytes of [1600, 3201, 17, 320_000]) {
    const config = streamingConfig({ enableWordTimeOffsets: true });
    const { messages, code } = await recognize(config, (stream) => {
      stream.sendAudio(first, chunkBytes);
    });
    assert.equal(code, 1000);
    transcripts.push(finalsOf(messages));
  }
  for (const each of transcripts) assert.deepEqual(each, transcripts[0]);
  assert.equal(transcripts[0]?.[0]?.transcript, `${sentences[0]} `);
});

test("singleUtterance ends the stream after the first final result", async () => {
  const stream = await open();
  stream.send(streamingConfig({}, { singleUtterance: true }));
  stream.sendAudio(speech);
  assert.equal(await stream.closed, 1000);
  assert.deepEqual(
    finalsOf(stream.messages).map(({ transcript }) => transcript),
    [`${sentences[0]} `],
  );
  assert.equal(stream.messages.at(-1)?.result?.speechEventType, "END_OF_SINGLE_UTTERANCE");
});

test("with enableVoiceActivityEvents, the stream has the start and end of each utterance and of the audio", async () => {
  const config = streamingConfig({}, { enableVoiceActivityEvents: true });
  const { messages, code } = await recognize(config, (stream) => {
    stream.sendAudio(speech);
  });
  assert.equal(code, 1000);
  const kinds = messages.map(({ result }) => {
    const [first] = result?.results ?? [];
    return first ? (first.isFinal === true ? "final" : "interim") : result?.speechEventType;
  });
  const utterance = ["START_OF_SPEECH", "interim", "END_OF_SPEECH", "final"];
  assert.deepEqual(
    kinds.filter((kind, at) => kind !== "interim" || kinds[at - 1] !== "interim"),
    [...sentences.flatMap(() => utterance), "END_OF_AUDIO"],
  );
  const times = messages.flatMap(({ result }) => result?.speechEventTime ?? []).map(secondsOf);
  assert.equal(times.length, 5);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.equal(times.at(-1), Math.round(speech.length / 32) / 1000, "the length of the audio");
});

test("finalizeUtterance ends the utterance immediately, and recognition continues", async () => {
  const stream = await open();
  stream.send(streamingConfig());
  const [first = ""] = sentences;
  const half = pcmOf(speak(first));
  stream.sendAudio(half);
  stream.send({ finalizeUtterance: true });
  const message = await stream.waitFor((each) => finalsOf([each]).length > 0);
  assert.equal(finalsOf([message])[0]?.transcript, `${first} `);
  stream.sendAudio(speech.subarray(half.length));
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  assert.equal(finalsOf(stream.messages).length, 2);
});

test("a stream without speech returns no message", async () => {
  const { messages, code } = await recognize(streamingConfig(), (stream) => {
    stream.sendAudio(Buffer.alloc(160_000));
  });
  assert.deepEqual(messages, []);
  assert.equal(code, 1000);
});

test("audio that is sent as fast as possible is paused by TCP and recognized to its end", async () => {
  const stream = await open();
  stream.send(streamingConfig({}, { interimResults: false }));
  // Two minutes of audio exceed all buffers on the way. The audio has few words, since words take
  // most of the time.
  const quiet = Buffer.alloc(3_840_000);
  stream.sendAudio(Buffer.concat([speech, quiet, speech]), 32_000);
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  assert.equal(finalsOf(stream.messages).length, 4);
});

test("a stream that ends while much of its audio is waiting closes immediately", async () => {
  const stream = await open();
  stream.send(streamingConfig({}, { singleUtterance: true }));
  for (let round = 0; round < 40; round += 1) stream.sendAudio(speech);
  await stream.waitFor(({ result }) => result?.speechEventType !== undefined);
  const began = performance.now();
  assert.equal(await stream.closed, 1000);
  assert.ok(performance.now() - began < 20_000);
});

test("messages that are malformed or out of order end the stream with an error message", async () => {
  const audio = { audioContent: "AAAA" };
  const config = streamingConfig();
  const rows: [messages: (string | Buffer)[], problem: RegExp, code: number][] = [
    [
      [JSON.stringify(audio)],
      /expected streamingConfig as the first message, not audioContent/,
      1007,
    ],
    [
      [JSON.stringify(config), JSON.stringify(config)],
      /expected audioContent, not a second streamingConfig/,
      1007,
    ],
    [["{}"], /expected streamingConfig as the first message, not a message without a field/, 1007],
    [[JSON.stringify(config), "{}"], /expected audioContent, not a message without a field/, 1007],
    [[JSON.stringify({ ...config, ...audio })], /./, 1007],
    [[JSON.stringify(config), '{"audioContent":"%%%%"}'], /audioContent/, 1007],
    [[JSON.stringify(config), '{"audioContent":5}'], /audioContent/, 1007],
    [[JSON.stringify(config), '{"audio":"AAAA"}'], /audio/, 1007],
    [["{"], /JSON/, 1007],
    [["[]"], /./, 1007],
    [[JSON.stringify(config), Buffer.alloc(10)], /JSON/, 1007],
    [
      [JSON.stringify(config), JSON.stringify({ audioContent: "A".repeat(1_200_000) })],
      /at most 1048576 are allowed/,
      1009,
    ],
    [
      [
        JSON.stringify(
          streamingConfig({
            sampleRateHertz: 7_000,
            encoding: "MP3",
            languageCode: "fo-FO",
            maxAlternatives: 99,
          }),
        ),
      ],
      /sampleRateHertz.*languageCode.*maxAlternatives/,
      1007,
    ],
    [
      [JSON.stringify(streamingConfig({}, { endpointing: { minSilence: "9s" } }))],
      /minSilence: must be 0\.2s to 5s, not 9s/,
      1007,
    ],
    ...["true", 1, [], {}].map((value): [string[], RegExp, number] => [
      [JSON.stringify(streamingConfig({}, { enableVoiceActivityEvents: value }))],
      /^streamingConfig\.enableVoiceActivityEvents: expected true or false, found /,
      1007,
    ]),
  ];
  for (const [messages, problem, code] of rows) {
    const stream = await open();
    for (const message of messages) stream.sendRaw(message, Buffer.isBuffer(message));
    const row = String(messages.at(-1)).slice(0, 80);
    assert.equal(await stream.closed, code, row);
    const last = stream.messages.at(-1);
    assert.match(last?.error?.message ?? "", problem, row);
    assert.equal(last?.error?.code, 3, row);
    assert.ok((last?.error?.details.length ?? 0) > 0);
  }
  const { code } = await recognize(streamingConfig(), () => {});
  assert.equal(code, 1000, "the next stream works");
});

test(
  "a stream without a configuration is closed after 10 s",
  { timeout: 60_000 * cpuSlowness },
  async () => {
    const stream = await open();
    const began = performance.now();
    assert.equal(await stream.closed, 1008);
    const waited = performance.now() - began;
    assert.ok(waited > 9_500 && waited < 30_000, `${waited} ms`);
    assert.equal(stream.messages[0]?.error?.code, 11);
    assert.match(
      stream.messages[0]?.error?.message ?? "",
      /no streamingConfig was received within 10 s/,
    );
  },
);

test("nothing remains of a stream when its caller disconnects", async () => {
  const streams = await Promise.all([open(), open(), open()]);
  for (const stream of streams) {
    stream.send(streamingConfig());
    stream.sendAudio(speech);
    stream.terminate();
  }
  await Promise.all(streams.map(({ closed }) => closed));
  const deadline = Date.now() + 10_000;
  for (;;) {
    const { json } = await service.call("GET", "/readyz");
    if (json.parts.engines.sessions === 0) break;
    assert.ok(Date.now() < deadline, JSON.stringify(json));
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
});

test("gRPC returns the same results", async () => {
  const client = createClient(Speech, createGrpcTransport({ baseUrl: service.address }));
  async function* requests() {
    const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "en-US" };
    yield {
      streamingRequest: {
        case: "streamingConfig" as const,
        value: { config, interimResults: true },
      },
    };
    for (let at = 0; at < speech.length; at += 1600) {
      yield {
        streamingRequest: { case: "audioContent" as const, value: speech.subarray(at, at + 1600) },
      };
    }
  }
  const headers = { authorization: `Bearer ${service.key}` };
  const results = await Array.fromAsync(client.streamingRecognize(requests(), { headers }));
  const finals = results.flatMap((answer) => answer.results.filter(({ isFinal }) => isFinal));
  assert.deepEqual(
    finals.map(({ alternatives }) => alternatives[0]?.transcript),
    sentences.map((text) => `${text} `),
  );
  assert.ok(results.length > finals.length + 4);
  await assert.rejects(Array.fromAsync(client.streamingRecognize(requests())), { code: 16 });
});
