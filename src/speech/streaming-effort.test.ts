// Tests that clients of streams learn with which effort PocketSphinx recognized an utterance.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { flite, joined, noise } from "../../test/fixtures/flite.ts";
import { chooseSandbox } from "../audio/sandbox.ts";
import { type EnginePool, openEnginePool } from "../engines/pool/engine-pool.ts";
import type { Effort } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import {
  StreamingRecognitionResult_Effort as ResultEffort,
  StreamingRecognizeRequestSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { createSpeechDecoding } from "./speech-service.ts";
import { streamingRecognize } from "./streaming-recognize.ts";

const log = createLog("silent");

const request = (init: MessageInitShape<typeof StreamingRecognizeRequestSchema>) =>
  create(StreamingRecognizeRequestSchema, init);

/** A configuration, an utterance, and its end. */
async function* utterance() {
  const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "en-US" };
  const value = { config, interimResults: true };
  yield request({ streamingRequest: { case: "streamingConfig", value } });
  const samples = joined(noise(300, 4), flite("Seven men came"), noise(900, 4));
  for (let at = 0; at < samples.length; at += 1600) {
    const audio = new Uint8Array(samples.slice(at, at + 1600).buffer);
    yield request({ streamingRequest: { case: "audioContent", value: audio } });
  }
  yield request({ streamingRequest: { case: "audioContent", value: new Uint8Array(0) } });
}

/** The same recognizer, with an effort that does not depend on the load. */
function withEffort(pool: EnginePool, effort: Effort): Recognizer {
  return {
    languageCodes: (mode) => pool.languageCodes(mode),
    modelName: (languageCode, mode) => pool.modelName(languageCode, mode),
    takesHints: (languageCode, mode) => pool.takesHints(languageCode, mode),
    canDiarize: () => pool.canDiarize(),
    checkDiarizer: () => pool.checkDiarizer(),
    recognize: (input, options) => pool.recognize(input, { ...options, effort }),
    diarize: (window, signal) => pool.diarize(window, signal),
    alignedLanguageCodes: () => pool.alignedLanguageCodes(),
    checkModelsKnown: () => pool.checkModelsKnown(),
    outputsModel: (languageCode) => pool.outputsModel(languageCode),
    align: (window, words, options) => pool.align(window, words, options),
  };
}

test("final results of a stream say with which effort they were recognized", async () => {
  await using pool = await openEnginePool({ engine: "pocketsphinx", processes: 1, log });
  const decoding = createSpeechDecoding(await chooseSandbox("auto", log));
  const { QUICK, FULL } = ResultEffort;
  const rows: [recognizer: Recognizer, efforts: readonly ResultEffort[]][] = [
    [withEffort(pool, "full"), [FULL]],
    [withEffort(pool, "quick"), [QUICK]],
    [pool, [QUICK, FULL]],
  ];
  for (const [recognizer, efforts] of rows) {
    const responses = streamingRecognize(utterance(), recognizer, {
      limits: { streamMsMax: 60_000 },
      meterAudio: () => undefined,
      extendHints: async (hints) => await Promise.resolve(hints),
      decoding,
      describeResults: false,
      call: { signal: new AbortController().signal },
    });
    const results = (await Array.fromAsync(responses)).flatMap((each) => each.results);
    const finals = results.filter(({ isFinal }) => isFinal);
    assert.equal(finals.length, 1);
    assert.ok(efforts.includes(finals[0]?.effort ?? 0), `${finals[0]?.effort}`);
    const interims = results.filter(({ isFinal }) => !isFinal);
    assert.ok(interims.length > 0);
    assert.ok(interims.every(({ effort }) => effort === ResultEffort.EFFORT_UNSPECIFIED));
  }
});
