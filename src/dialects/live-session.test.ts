import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { speech } from "../../test/fixtures/engine-pool-fixture.ts";
import { joined, silence } from "../../test/fixtures/flite.ts";
import { testCaller } from "../../test/fixtures/test-caller.ts";
import { chooseSandbox } from "../audio/sandbox.ts";
import { openEnginePool, type EnginePool } from "../engines/pool/engine-pool.ts";
import { createSpeechDecoding, type SpeechDecoding } from "../speech/speech-service.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { finalize, LiveMessages, type LiveInput } from "./live-input.ts";
import { LiveSession, type LiveEvent } from "./live-session.ts";

let recognizer: EnginePool;
let decoding: SpeechDecoding;

before(async () => {
  const log = createLog("silent");
  decoding = createSpeechDecoding(await chooseSandbox("auto", log));
  recognizer = await openEnginePool({ engine: "scripted", processes: 1, log });
});
after(() => recognizer[Symbol.asyncDispose]());

const utterance = joined(speech(1_000), silence(1_000));

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

async function* inputOf(items: readonly LiveInput[]): AsyncGenerator<LiveInput, undefined> {
  yield* items;
  return undefined;
}

interface SessionFacts {
  readonly events: readonly LiveEvent[];
  readonly audioMs: number;
  readonly meteredMs: number;
  readonly streams: number;
}

/** Runs a session over these items; with streamMsMax 0, each item gets a stream of its own. */
async function run(items: readonly LiveInput[], streamMsMax = 60_000): Promise<SessionFacts> {
  let [meteredMs, streams] = [0, 0];
  const openStream = async () => {
    streams += 1;
    const meterAudio = (ms: number): undefined => void (meteredMs += ms);
    return await Promise.resolve({ meterAudio, [Symbol.dispose]() {} });
  };
  const session = new LiveSession(
    {
      recognizer,
      meter: { openStream },
      decoding,
      accountHints: { extend: async (hints) => await Promise.resolve(hints) },
      limits: { streamMsMax },
    },
    {
      audio: { kind: "bare", encoding: "s16", sampleRateHertz: 16_000, channels: 1 },
      writing: {
        languageCode: "is-IS",
        formats: false,
        punctuation: false,
        masksProfanity: false,
      },
      hints: [],
      interim: false,
      fields: { audio: "audio", sampleRateHertz: "sample_rate" },
    },
    inputOf(items),
    { caller: testCaller("a", ["speech"]), signal: new AbortController().signal },
  );
  const events: LiveEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return { events, audioMs: session.audioMs, meteredMs, streams };
}

function wordsOf({ events }: SessionFacts): [text: string, startMs: number, endMs: number][] {
  return events
    .flatMap((event) => (event.kind === "final" ? (event.alternatives[0]?.words ?? []) : []))
    .map(({ text, startMs, endMs }) => [text, startMs, endMs]);
}

test("a session has the same words and times, however many streams it takes", async () => {
  const items = Array.from({ length: 3 }, () => bytesOf(utterance));
  const one = await run(items);
  const several = await run(items, 0);
  assert.equal(wordsOf(one).length, 6);
  assert.deepEqual(wordsOf(several), wordsOf(one));
  for (const { audioMs, meteredMs, streams } of [one, several]) {
    assert.deepEqual([audioMs, meteredMs, streams], [6_000, 6_000, 1]);
  }
});

test("a stream is not replaced in the middle of a sample", async () => {
  const items = [3, 2, 3, 2].map((length) => new Uint8Array(length));
  const messages = new LiveMessages(inputOf(items), { frameBytes: 2, pauseMs: 60_000, renewMs: 0 });
  const lengths: number[][] = [];
  while ((await messages.peek()).done !== true) {
    using _begun = messages.begin();
    const ofStream: number[] = [];
    for (let next = await messages.next(); next.value; next = await messages.next()) {
      const { streamingRequest } = next.value;
      if (streamingRequest.case === "audioContent") ofStream.push(streamingRequest.value.length);
    }
    lengths.push(ofStream);
  }
  assert.deepEqual(lengths, [[3, 2, 3], [2]]);
});

test("each finalize is answered once, after the results of the audio before it", async () => {
  const said = bytesOf(speech(1_000));
  const quiet = bytesOf(silence(300));
  const items: LiveInput[] = [finalize, said, finalize, finalize, quiet, finalize, said, finalize];
  const shown = ({ events }: SessionFacts): string[] =>
    events.map((event) => `${event.kind} ${event.kind === "finalized" ? event.endMs : ""}`.trim());
  const expected = [
    "finalized 0",
    "speechStart",
    "final",
    "finalized 1000",
    "finalized 1000",
    "finalized 1300",
    "speechStart",
    "final",
    "finalized 2300",
  ];
  assert.deepEqual(shown(await run(items)), expected);
  assert.deepEqual(shown(await run(items, 0)), expected);
});

test("a final result says whether the utterance was cut", async () => {
  const long = bytesOf(joined(speech(21_000), silence(1_000)));
  const finals = (await run([long])).events.filter((event) => event.kind === "final");
  assert.deepEqual(
    finals.map(({ isCut }) => isCut),
    [true, false],
  );
});

test("an item that comes after a pause begins the next stream", async () => {
  const { promise, resolve } = Promise.withResolvers<LiveInput>();
  const input = (async function* (): AsyncGenerator<LiveInput, undefined> {
    yield new Uint8Array(4);
    yield await promise;
    return undefined;
  })();
  const messages = new LiveMessages(input, { frameBytes: 2, pauseMs: 20, renewMs: 60_000 });
  {
    using _first = messages.begin();
    assert.equal((await messages.next()).value?.streamingRequest.case, "audioContent");
    assert.equal((await messages.next()).done, true, "the stream pauses");
  }
  resolve(new Uint8Array(6));
  // The item comes while the results of the first stream are still awaited.
  await new Promise((done) => setImmediate(done));
  using _second = messages.begin();
  const { value } = await messages.next();
  assert.deepEqual(value?.streamingRequest.value, new Uint8Array(6));
  assert.equal((await messages.next()).done, true);
  assert.equal((await messages.peek()).done, true);
});

test("an input that fails ends its session with the error", async () => {
  const failing = (async function* (): AsyncGenerator<LiveInput, undefined> {
    yield new Uint8Array(4);
    throw await Promise.resolve(new ServiceError("cancelled", "gone"));
  })();
  const messages = new LiveMessages(failing, { frameBytes: 2, pauseMs: 60_000, renewMs: 60_000 });
  using _begun = messages.begin();
  await messages.next();
  await assert.rejects(messages.next(), { message: "gone" });
});
