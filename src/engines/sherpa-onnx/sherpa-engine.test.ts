import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testEngine } from "../../../test/fixtures/engine-conformance.ts";
import {
  icelandicText,
  recognize,
  sayIcelandic,
  starterFolder,
  streamingCard,
  testModelsFolder,
  transducerCard,
  transducerFolder,
  wholeCard,
  wholeFolder,
  wholeTransducerCard,
  wholeTransducerFolder,
} from "../../../test/fixtures/sherpa-models.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { openSherpaEngine } from "./sherpa-engine.ts";

testEngine(
  "openSherpaEngine() with a streaming model",
  () => openSherpaEngine(streamingCard, starterFolder),
  icelandicText,
  { said: sayIcelandic, hasOneReading: true },
);

testEngine(
  "openSherpaEngine() with a model of whole utterances",
  () => openSherpaEngine(wholeCard, wholeFolder),
  icelandicText,
  { said: sayIcelandic, hasOneReading: true },
);

testEngine(
  "openSherpaEngine() with a streaming transducer",
  () => openSherpaEngine(transducerCard, transducerFolder),
  icelandicText,
  { said: sayIcelandic, hasOneReading: true },
);

testEngine(
  "openSherpaEngine() with a transducer of whole utterances",
  () => openSherpaEngine(wholeTransducerCard, wholeTransducerFolder),
  icelandicText,
  { said: sayIcelandic, hasOneReading: true },
);

test("a transducer reports a confidence for each word, with either search method", async () => {
  const { spoken } = sayIcelandic();
  const searches = ["greedy_search", "modified_beam_search"].flatMap((decodingMethod) => [
    [{ ...transducerCard, options: { decodingMethod } }, transducerFolder] as const,
    [{ ...wholeTransducerCard, options: { decodingMethod } }, wholeTransducerFolder] as const,
  ]);
  for (const [card, folder] of searches) {
    const engine = await openSherpaEngine(card, folder);
    const decoder = engine.createDecoder({ mode: "short", alternativesMax: 1 });
    const [reading] = await recognize(decoder, spoken);
    const confidences = reading?.words.map(({ confidence }) => confidence ?? 0) ?? [];
    assert.equal(confidences.length, 5);
    assert.ok(
      confidences.every((confidence) => confidence > 0.3 && confidence < 1),
      String(confidences),
    );
    assert.ok((reading?.confidence ?? 0) > 0.5);
    decoder.close();
    engine.close();
  }
});

test("a model without probabilities reports no confidences", async () => {
  for (const [card, folder] of [
    [streamingCard, starterFolder],
    [wholeCard, wholeFolder],
  ] as const) {
    const engine = await openSherpaEngine(card, folder);
    const decoder = engine.createDecoder({ mode: "short", alternativesMax: 1 });
    const [reading] = await recognize(decoder, sayIcelandic().spoken);
    assert.ok(reading && !("confidence" in reading));
    assert.ok(reading.words.every((word) => !("confidence" in word)));
    decoder.close();
    engine.close();
  }
});

test("the error for a model that cannot be loaded names the model's files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-sherpa-"));
  const tokens = join(folder, "tokens.txt");
  copyFileSync(join(starterFolder, "tokens.txt"), tokens);
  try {
    const whole: ModelCard = { ...wholeCard, files: streamingCard.files };
    const model = join(folder, "model.onnx");
    await assert.rejects(openSherpaEngine(whole, folder), /^\w+: model\.onnx: is missing$/);
    await assert.rejects(openSherpaEngine(streamingCard, folder), /model\.onnx: is missing$/);
    writeFileSync(model, "no model");
    await assert.rejects(openSherpaEngine(whole, folder), /model\.onnx: is not an ONNX model$/);
    const bytes = readFileSync(join(testModelsFolder, "is-IS-whole", "model.onnx"));
    writeFileSync(model, bytes.subarray(0, bytes.length / 2));
    await assert.rejects(openSherpaEngine(whole, folder), /model\.onnx: is cut off after /);
    // A valid ONNX file of another kind, which the library rejects.
    copyFileSync(join(testModelsFolder, "diarization", "embedding.onnx"), model);
    await assert.rejects(
      openSherpaEngine(whole, folder),
      /^Error: is-IS-\w+: sherpa-onnx cannot load model\.onnx, tokens\.txt as zipformer-ctc$/,
    );
    writeFileSync(model, bytes);
    rmSync(tokens);
    await assert.rejects(openSherpaEngine(whole, folder), /tokens\.txt: is missing$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a model that cannot process its input is rejected when it is opened", async () => {
  const card: ModelCard = { ...wholeCard, options: { featureDim: 40 } };
  await assert.rejects(openSherpaEngine(card, wholeFolder), (error) => {
    assert.ok(error instanceof Error && error.cause instanceof Error);
    return /invalid dimensions/.test(error.cause.message);
  });
});
