// LiveKit's plug-ins for OpenAI and Deepgram, as its agents use them, with the address of the
// service. They are installed by this test and so are part of `npm run test:long` only. It must run
// without test/fixtures/property-seed.ts, whose bundles replace packages of the plug-ins.
import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test, type TestContext } from "node:test";
import { espeak, joined, silence } from "../fixtures/flite.ts";
import { within } from "../fixtures/until.ts";
import { openDialectService, shortText, type DialectService } from "./dialect-service.ts";
import { installLiveKit, type LiveKit, type SpeechStream } from "./livekit-plugins.ts";

const isWanted = process.env["LIVEKIT"] === "all";
const skip = isWanted ? false : "it installs 290 MB: npm run test:long";
const timeout = 600_000;
const said = joined(silence(300), espeak("við hittumst á kaffihúsinu"), silence(1_500));

let dialects: DialectService;
let livekit: LiveKit | string;
const streams: SpeechStream[] = [];

before(async () => {
  if (!isWanted) return;
  livekit = await installLiveKit();
  dialects = await openDialectService();
});
after(async () => {
  for (const stream of streams) stream.close();
  await dialects?.[Symbol.asyncDispose]();
});

/** Runs a test with the plug-ins, or skips it where they cannot be installed. */
function withLiveKit(name: string, run: (kit: LiveKit) => Promise<void>): void {
  test(name, { skip, timeout }, async (t: TestContext) => {
    if (typeof livekit === "string") t.skip(livekit);
    else await run(livekit);
  });
}

/** Returns samples of 16 kHz at another rate, each repeated or left out. */
function atRate(samples: Int16Array, rate: number): Int16Array {
  const length = Math.floor((samples.length * rate) / 16_000);
  return Int16Array.from({ length }, (_, at) => samples[Math.floor((at * 16_000) / rate)] ?? 0);
}

/** Pushes the samples in frames of 50 ms. */
function push({ AudioFrame }: LiveKit, stream: SpeechStream, samples: Int16Array, rate: number) {
  const audio = atRate(samples, rate);
  const step = rate / 20;
  for (let at = 0; at + step <= audio.length; at += step) {
    stream.pushFrame(new AudioFrame(audio.slice(at, at + step), rate, 1, step));
  }
}

/** Reads the events of a stream in the background. */
function watch({ eventTypes }: LiveKit, stream: SpeechStream) {
  streams.push(stream);
  const names = new Map(Object.entries(eventTypes).map(([name, value]) => [value, name]));
  const seen: string[] = [];
  const finals: string[] = [];
  const waiting = new Set<() => void>();
  const ended = (async () => {
    for await (const { type, alternatives } of stream) {
      const name = names.get(type) ?? `${type}`;
      if (name === "RECOGNITION_USAGE") continue;
      if (seen.at(-1) !== name) seen.push(name);
      if (name === "FINAL_TRANSCRIPT") finals.push(alternatives?.[0]?.text ?? "");
      for (const look of waiting) look();
    }
  })();
  /** Resolves once there are this many final results, and speech has ended. */
  const until = async (count: number, what: string, needsEnd = true) =>
    await within(
      what,
      new Promise<void>((resolve) => {
        const look = (): void => {
          const hasEnded = !needsEnd || seen.includes("END_OF_SPEECH");
          if (finals.length >= count && hasEnded) resolve();
        };
        waiting.add(look);
        look();
      }),
      60_000,
    );
  return { seen, finals, ended, until };
}

withLiveKit(
  "Deepgram's plug-in gets interim and final results, and where speech ends",
  async (kit) => {
    const { address, key } = dialects.service;
    const baseUrl = address.replace("http", "ws");
    const stt = new kit.deepgram.STT({ apiKey: key, baseUrl, language: "is", endpointing: 500 });
    const stream = stt.stream();
    const { seen, finals, ended, until } = watch(kit, stream);
    push(kit, stream, said, 16_000);
    await until(1, "the first sentence");
    push(kit, stream, said, 16_000);
    await until(2, "the second sentence");
    stream.endInput();
    await within("the end of the stream", ended);
    for (const text of finals) assert.match(text, shortText);
    const once = ["START_OF_SPEECH", "INTERIM_TRANSCRIPT", "FINAL_TRANSCRIPT", "END_OF_SPEECH"];
    assert.deepEqual(seen, [...once, ...once]);
  },
);

withLiveKit("Deepgram's plug-in gets the text of a file, and its words", async (kit) => {
  const { address, key } = dialects.service;
  const stt = new kit.deepgram.STT({ apiKey: key, baseUrl: address, language: "is" });
  const { alternatives } = await stt.recognize(new kit.AudioFrame(said, 16_000, 1, said.length));
  assert.match(alternatives?.[0]?.text ?? "", shortText);
  const words = alternatives?.[0]?.words?.map(({ text }) => text) ?? [];
  assert.equal(words.join(" "), alternatives?.[0]?.text);
});

withLiveKit(
  "OpenAI's plug-in gets turns of the Realtime API, also after it connected again",
  async (kit) => {
    const { address, key } = dialects.service;
    const options = { apiKey: key, baseURL: `${address}/v1`, language: "is", useRealtime: true };
    const stt = new kit.openai.STT({ ...options, model: "gpt-4o-mini-transcribe" });
    const stream = stt.stream();
    const { seen, finals, until } = watch(kit, stream);
    push(kit, stream, said, 24_000);
    await until(1, "the first sentence");
    assert.deepEqual(seen.toSorted(), [
      "END_OF_SPEECH",
      "FINAL_TRANSCRIPT",
      "INTERIM_TRANSCRIPT",
      "START_OF_SPEECH",
    ]);
    // Another model is another session.
    stt.updateOptions({ model: "gpt-4o-transcribe" });
    push(kit, stream, said, 24_000);
    await until(2, "the sentence of the second session");
    for (const text of finals) assert.match(text, shortText);
    stream.close();
  },
);

withLiveKit("OpenAI's plug-in commits what it flushed", async (kit) => {
  const { address, key } = dialects.service;
  const stt = new kit.openai.STT({
    apiKey: key,
    baseURL: `${address}/v1`,
    language: "is",
    useRealtime: true,
    model: "gpt-4o-mini-transcribe",
    turnDetection: null,
    vad: null,
  });
  const stream = stt.stream();
  const { finals, until } = watch(kit, stream);
  push(kit, stream, said, 24_000);
  stream.flush();
  await until(1, "the sentence", false);
  assert.match(finals[0] ?? "", shortText);
  stream.close();
});

withLiveKit("OpenAI's plug-in gets the text of a file, also as Groq's", async (kit) => {
  const { address, key } = dialects.service;
  for (const path of ["/v1", "/openai/v1", "/openai/is/v1"]) {
    const options = { apiKey: key, baseURL: `${address}${path}`, language: "is" };
    const stt = new kit.openai.STT({ ...options, useRealtime: false });
    const frame = new kit.AudioFrame(said, 16_000, 1, said.length);
    const { alternatives } = await stt.recognize(frame);
    assert.match(alternatives?.[0]?.text ?? "", shortText, path);
  }
});

withLiveKit("a wrong key is an error that the plug-ins do not repeat", async (kit) => {
  const { address } = dialects.service;
  const baseUrl = address.replace("http", "ws");
  const stt = new kit.deepgram.STT({ apiKey: "unknown", baseUrl, language: "is" });
  const failed = new Promise<Error>((resolve) => {
    stt.on("error", ({ error }) => resolve(error));
  });
  const stream = stt.stream();
  push(kit, stream, said, 16_000);
  assert.match(`${await within("the error", failed)}`, /401/);
  stream.close();
});
