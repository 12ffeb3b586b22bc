import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { speech } from "../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../test/fixtures/flite.ts";
import { chooseSandbox } from "../audio/sandbox.ts";
import { openEnginePool, type EnginePool } from "../engines/pool/engine-pool.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import {
  StreamingRecognizeRequestSchema,
  StreamingRecognizeResponse_SpeechEventType as SpeechEventType,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../std/duration.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { createSpeechDecoding, type SpeechDecoding } from "./speech-service.ts";
import type { LiveLimits } from "./recognize-stream.ts";
import { streamingRecognize } from "./streaming-recognize.ts";

let recognizer: EnginePool;
let decoding: SpeechDecoding;
const extendHints = async (hints?: readonly Hint[]) => await Promise.resolve(hints);

before(async () => {
  decoding = createSpeechDecoding(await chooseSandbox("auto", createLog("silent")));
  recognizer = await openEnginePool({
    engine: "scripted",
    processes: 1,
    log: createLog("silent"),
  });
});
after(() => recognizer[Symbol.asyncDispose]());

const request = (init: MessageInitShape<typeof StreamingRecognizeRequestSchema>) =>
  create(StreamingRecognizeRequestSchema, init);

/** A configuration and a second of speech, without an end. */
async function* unfinished() {
  const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "is-IS" };
  yield request({ streamingRequest: { case: "streamingConfig", value: { config } } });
  const value = new Uint8Array(speech(1_000).buffer);
  yield request({ streamingRequest: { case: "audioContent", value } });
  await new Promise(() => {});
}

/** Returns the final results and the error of a stream that its client does not end. */
async function recognize(limits: LiveLimits) {
  const finals: string[] = [];
  const { signal } = new AbortController();
  const meterAudio = () => undefined;
  const describeResults = false;
  const options = { limits, meterAudio, extendHints, decoding, describeResults, call: { signal } };
  try {
    for await (const { results } of streamingRecognize(unfinished(), recognizer, options)) {
      for (const { isFinal, alternatives } of results) {
        if (isFinal) finals.push(alternatives[0]?.transcript ?? "");
      }
    }
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    return { finals, error };
  }
  return assert.fail("the stream ended without an error");
}

test("streamingRecognize() ends a stream at its maximum duration with unavailable, after its final results", async () => {
  const { finals, error } = await recognize({ streamMsMax: 300 });
  assert.equal(finals.length, 1);
  assert.deepEqual(
    [error.code, error.reason, error.retryAfterMs],
    ["unavailable", "STREAM_TOO_LONG", 0],
  );
  assert.match(error.message, /has reached its maximum length of 0\.3 s: open another one/);
});

test("streamingRecognize() ends a stream without audio with out_of_range, after its final results", async () => {
  const { finals, error } = await recognize({ streamMsMax: 60_000, audioMsMax: 200 });
  assert.equal(finals.length, 1);
  assert.equal(error.code, "out_of_range");
  assert.match(error.message, /no audio was received for 0\.2 s/);
});

/** Two utterances and their end, with the events of speech. */
async function* twoUtterances(enableVoiceActivityEvents: boolean, singleUtterance = false) {
  const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "is-IS" };
  const value = { config, interimResults: true, enableVoiceActivityEvents, singleUtterance };
  yield request({ streamingRequest: { case: "streamingConfig", value } });
  for (const samples of [speech(1_000), silence(1_000), speech(500), silence(250)]) {
    for (let at = 0; at < samples.length; at += 1600) {
      const part = samples.slice(at, at + 1600);
      const audio = new Uint8Array(part.buffer);
      yield request({ streamingRequest: { case: "audioContent", value: audio } });
    }
  }
  yield request({ streamingRequest: { case: "audioContent", value: new Uint8Array(0) } });
}

function nameOf(type: SpeechEventType): string {
  return Object.entries(SpeechEventType).find(([, value]) => value === type)?.[0] ?? "";
}

/** Returns the messages in short: `interim`, `final`, or the event with its time in ms. */
async function messagesOf(
  requests: ReturnType<typeof twoUtterances>,
  sendEndOfAudio = true,
): Promise<string[]> {
  const { signal } = new AbortController();
  const limits = { streamMsMax: 60_000 };
  const meterAudio = () => undefined;
  const own = { limits, meterAudio, extendHints, decoding, call: { signal } };
  const options = { ...own, describeResults: false, sendEndOfAudio };
  const found: string[] = [];
  for await (const message of streamingRecognize(requests, recognizer, options)) {
    const { results, speechEventType, speechEventTime } = message;
    const ms = speechEventTime && msOfDuration(speechEventTime);
    const [result] = results;
    found.push(
      result ? (result.isFinal ? "final" : "interim") : `${nameOf(speechEventType)} ${ms}`,
    );
  }
  return found.filter((each, at) => each !== "interim" || found[at - 1] !== "interim");
}

test("streamingRecognize() sends the events of speech around the results, and only where they are requested", async () => {
  assert.deepEqual(await messagesOf(twoUtterances(false)), [
    "interim",
    "final",
    "interim",
    "final",
  ]);
  const events = await messagesOf(twoUtterances(true));
  assert.deepEqual(
    events.map((each) => each.split(" ")[0]),
    [
      ...[1, 2].flatMap(() => ["START_OF_SPEECH", "interim", "END_OF_SPEECH", "final"]),
      "END_OF_AUDIO",
    ],
  );
  const times = events.flatMap((each) => each.split(" ").slice(1)).map(Number);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.equal(times.at(-1), 2_750);
});

test("streamingRecognize() sends no END_OF_AUDIO after singleUtterance or where its number means something else", async () => {
  assert.deepEqual(
    (await messagesOf(twoUtterances(true, true))).map((each) => each.split(" ")[0]),
    ["START_OF_SPEECH", "interim", "END_OF_SPEECH", "final", "END_OF_SINGLE_UTTERANCE"],
  );
  const ofGoogle = await messagesOf(twoUtterances(true), false);
  assert.deepEqual([ofGoogle.length, ofGoogle.at(-1)], [8, "final"]);
});
