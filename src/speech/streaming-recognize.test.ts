import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { speech } from "../../test/fixtures/engine-pool-fixture.ts";
import { chooseSandbox } from "../audio/sandbox.ts";
import { openEnginePool, type EnginePool } from "../engines/pool/engine-pool.ts";
import { StreamingRecognizeRequestSchema } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { createSpeechDecoding, type SpeechDecoding } from "./speech-service.ts";
import { streamingRecognize, type LiveLimits } from "./streaming-recognize.ts";

let recognizer: EnginePool;
let decoding: SpeechDecoding;

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
  const options = { limits, meterAudio, decoding, describeResults: false, call: { signal } };
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
