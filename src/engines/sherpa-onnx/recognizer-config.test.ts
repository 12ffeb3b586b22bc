import assert from "node:assert/strict";
import { test } from "node:test";
import { sherpaCard } from "../../../test/fixtures/sherpa-models.ts";
import { type ModelCard, ModelCardError, modelKinds } from "../../models/model-card.ts";
import { recognizerPlan } from "./recognizer-config.ts";

function files(...roles: readonly string[]): ModelCard["files"] {
  return Object.fromEntries(
    roles.map((role) => [role, { path: role === "tokens" ? "tokens.txt" : `${role}.onnx` }]),
  );
}
const model = files("model", "tokens");
const transducer = files("encoder", "decoder", "joiner", "tokens");
const paths = (...roles: readonly string[]) =>
  Object.fromEntries(roles.map((role) => [role, `/m/${role}.onnx`]));

test("every kind has its place in the library's configuration", () => {
  const rows: [Partial<ModelCard>, models: unknown, isStreaming: boolean][] = [
    [
      { kind: "streaming-transducer", files: transducer },
      { transducer: paths("encoder", "decoder", "joiner") },
      true,
    ],
    [{ kind: "streaming-nemo-ctc", files: model }, { nemoCtc: paths("model") }, true],
    [{ kind: "streaming-zipformer2-ctc", files: model }, { zipformer2Ctc: paths("model") }, true],
    [
      { kind: "streaming-paraformer", files: files("encoder", "decoder", "tokens") },
      { paraformer: paths("encoder", "decoder") },
      true,
    ],
    [{ kind: "streaming-t-one-ctc", files: model }, { toneCtc: paths("model") }, true],
    [
      { kind: "transducer", files: transducer },
      { transducer: paths("encoder", "decoder", "joiner"), modelType: "transducer" },
      false,
    ],
    [
      { kind: "nemo-transducer", files: transducer },
      { transducer: paths("encoder", "decoder", "joiner"), modelType: "nemo_transducer" },
      false,
    ],
    [
      { kind: "whisper", files: files("encoder", "decoder", "tokens") },
      {
        whisper: {
          ...paths("encoder", "decoder"),
          task: "transcribe",
          language: "is",
          enableTokenTimestamps: 1,
        },
      },
      false,
    ],
    [
      {
        kind: "moonshine",
        files: files("preprocessor", "encoder", "uncachedDecoder", "cachedDecoder", "tokens"),
      },
      { moonshine: paths("preprocessor", "encoder", "uncachedDecoder", "cachedDecoder") },
      false,
    ],
    [
      { kind: "moonshine", files: files("encoder", "mergedDecoder", "tokens") },
      { moonshine: paths("encoder", "mergedDecoder") },
      false,
    ],
    [
      { kind: "sense-voice", files: model },
      { senseVoice: { ...paths("model"), useInverseTextNormalization: 1 } },
      false,
    ],
    [{ kind: "paraformer", files: model }, { paraformer: paths("model") }, false],
    [{ kind: "omnilingual-ctc", files: model }, { omnilingual: paths("model") }, false],
    [{ kind: "nemo-ctc", files: model }, { nemoCtc: paths("model") }, false],
    [{ kind: "zipformer-ctc", files: model }, { zipformerCtc: paths("model") }, false],
    [{ kind: "wenet-ctc", files: model }, { wenetCtc: paths("model") }, false],
  ];
  for (const [card, models, isStreaming] of rows) {
    const plan = recognizerPlan(sherpaCard(card), "/m");
    const { modelConfig, featConfig, decodingMethod } = plan.config;
    const expected = { ...Object(models), tokens: "/m/tokens.txt" };
    assert.deepEqual(
      modelConfig,
      { ...expected, numThreads: 1, provider: "cpu", debug: 0 },
      card.kind,
    );
    assert.deepEqual(featConfig, { sampleRate: 16_000, featureDim: 80 });
    assert.equal(decodingMethod, "greedy_search");
    assert.equal(plan.isStreaming, isStreaming, card.kind);
  }
  const kinds = new Set(rows.map(([{ kind }]) => kind));
  const missing = modelKinds["sherpa-onnx"].filter((kind) => !kinds.has(kind));
  assert.deepEqual(missing, ["diarization"]);
});

test("options are placed where the library reads them", () => {
  const whisper = recognizerPlan(
    sherpaCard({
      kind: "whisper",
      languageCodes: ["en-US", "is-IS"],
      files: files("encoder", "decoder", "tokens"),
      options: { task: "translate", tailPaddings: 300, threads: 2 },
    }),
    "/m",
  );
  assert.deepEqual(whisper.config["modelConfig"], {
    whisper: {
      ...paths("encoder", "decoder"),
      task: "translate",
      tailPaddings: 300,
      enableTokenTimestamps: 1,
    },
    tokens: "/m/tokens.txt",
    numThreads: 2,
    provider: "cpu",
    debug: 0,
  });
  assert.equal(whisper.runsMax, 1);
  assert.deepEqual([...whisper.configs.keys()], ["en-US", "is-IS"]);
  for (const [code, language] of [
    ["en-US", "en"],
    ["is-IS", "is"],
  ] as const) {
    assert.deepEqual(whisper.configs.get(code), {
      ...whisper.config,
      modelConfig: {
        ...Object(whisper.config["modelConfig"]),
        whisper: { ...Object(whisper.config["modelConfig"]).whisper, language },
      },
    });
  }
  const searched = recognizerPlan(
    sherpaCard({
      kind: "streaming-transducer",
      sampleRateHertz: 8000,
      files: transducer,
      options: { decodingMethod: "modified_beam_search", maxActivePaths: 8, featureDim: 64 },
    }),
    "/m",
  );
  const { decodingMethod, maxActivePaths, featConfig } = searched.config;
  assert.deepEqual([decodingMethod, maxActivePaths], ["modified_beam_search", 8]);
  assert.deepEqual(featConfig, { sampleRate: 8000, featureDim: 64 });
  const sense = recognizerPlan(
    sherpaCard({
      kind: "sense-voice",
      files: model,
      options: { language: "yue", useInverseTextNormalization: false },
    }),
    "/m",
  );
  assert.deepEqual(Object(sense.config["modelConfig"]).senseVoice, {
    ...paths("model"),
    language: "yue",
    useInverseTextNormalization: 0,
  });
});

test("the error for an invalid card names every wrong field", () => {
  const rows: [Partial<ModelCard>, problem: RegExp][] = [
    [{ files: files("model") }, /^is-IS-test: files\.tokens is required$/],
    [
      { files: files("model", "tokens", "words") },
      /files\.words is unknown: .* has model, tokens$/,
    ],
    [
      { kind: "transducer", files: files("encoder", "model", "tokens") },
      /files\.decoder is required; files\.joiner is required; files\.model is unknown/,
    ],
    [
      { kind: "moonshine", files: files("encoder", "mergedDecoder") },
      /^is-IS-test: files\.tokens is required$/,
    ],
    [
      { options: { language: "is" } },
      /options\.language is unknown; the options are threads, featureDim$/,
    ],
    [{ options: { threads: 0 } }, /options\.threads must be a whole number from 1 to 64, not 0$/],
    [{ options: { threads: "2" } }, /options\.threads must be .* not "2"/],
    [{ options: { threads: 1.5 } }, /options\.threads must be .* not 1\.5/],
    [
      {
        kind: "whisper",
        files: files("encoder", "decoder", "tokens"),
        options: { language: "xx" },
      },
      /options\.language must be one of en, zh.*, not "xx"/,
    ],
    [{ options: { constructor: 1 } }, /options\.constructor is unknown; the options are threads/],
    [{ languageCodes: [] }, /languageCodes is empty/],
    [{ kind: "diarization" }, /kind diarization recognizes no words/],
  ];
  for (const [different, problem] of rows) {
    assert.throws(
      () => recognizerPlan(sherpaCard(different), "/m"),
      (error) => error instanceof ModelCardError && problem.test(error.message),
      String(problem),
    );
  }
});
