import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Starter, starterCard, starterFolders } from "../../../test/fixtures/open-starter.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { openCtcEngine } from "./ctc-engine.ts";
import { openCtcModel } from "./ctc-model.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-ctc-model-"));
after(() => rmSync(folder, { recursive: true }));

/**
 * A card that contains only the paths of the model's files, so that faults are found in the files
 * themselves.
 */
function bareCard(starter: Starter, options: ModelCard["options"] = {}): ModelCard {
  const card = starterCard(starter);
  const files = Object.entries(card.files).map(([role, { path }]) => [role, { path }] as const);
  return { ...card, files: Object.fromEntries(files), options };
}

/** A copy of the model with some files replaced. */
function damaged(starter: Starter, files: Readonly<Record<string, string | Uint8Array>>): string {
  const copy = mkdtempSync(join(folder, "copy-"));
  cpSync(starterFolders[starter], copy, { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(copy, path), content);
  return copy;
}

function bytesOf(starter: Starter, path: string): Buffer {
  return readFileSync(join(starterFolders[starter], path));
}

/** A copy in which one text is replaced by another of the same length. */
function withText(bytes: Buffer, from: string, to: string): Buffer {
  assert.equal(from.length, to.length);
  const copy = Buffer.from(bytes);
  const at = copy.indexOf(from);
  assert.ok(at > 0, from);
  copy.write(to, at);
  return copy;
}

const streamingModel = bytesOf("streaming", "model.onnx");
const tokens = bytesOf("streaming", "tokens.txt").toString();

test("a streaming model is loaded with the layout of its metadata", async () => {
  const { session, layout, table, lexicon } = await openCtcModel(
    starterCard("streaming"),
    starterFolders.streaming,
  );
  await session.release();
  assert.deepEqual(layout, {
    kind: "streaming-nemo-ctc",
    rowsMax: Infinity,
    binCount: 80,
    windowFrames: 25,
    shiftFrames: 16,
    frameMs: 40,
    outputFrames: 4,
    tokenCount: 38,
    channelDims: [1, 1, 288],
    timeDims: [1, 1, 288],
  });
  assert.equal(table.blank, 37);
  assert.equal(lexicon?.penalty, 8);
});

test("a recording model is loaded, and options of the card override its metadata", async () => {
  const card = bareCard("whole", { frameMs: 20, lexiconPenalty: 2.5 });
  const { session, layout, lexicon } = await openCtcModel(card, starterFolders.whole);
  await session.release();
  assert.deepEqual(layout, { kind: "zipformer-ctc", binCount: 80, tokenCount: 38, frameMs: 20 });
  assert.equal(lexicon?.penalty, 2.5);
});

test("a model that was exported for one stream serves several, one after another", async () => {
  // In the file, the first dimension of the first input has a name, which is replaced by 1 with the
  // same number of bytes.
  const dimensions = "\n\u0003\u0012\u0001B\n\u0002\u0008P\n\u0002\u0008\u0019";
  const at = streamingModel.indexOf(dimensions);
  assert.ok(at > 0);
  const forOne = Buffer.from(streamingModel);
  forOne.set([0x08, 0x81, 0x00], at + 2);
  const engine = await openCtcEngine(
    bareCard("streaming"),
    damaged("streaming", { "model.onnx": forOne }),
  );
  const decoders = [1, 2, 3].map(() => engine.createDecoder({ mode: "live", alternativesMax: 1 }));
  const running = decoders.map(async (decoder) => {
    decoder.begin();
    decoder.accept(new Int16Array(8000));
    const work = decoder.work();
    assert.ok(work instanceof Promise);
    await work;
  });
  await Promise.all(running);
  engine.close();
});

test("a model without a lexicon is loaded", async () => {
  const card = bareCard("streaming");
  const { lexicon: _, ...files } = card.files;
  const model = await openCtcModel({ ...card, files }, starterFolders.streaming);
  await model.session.release();
  assert.equal(model.lexicon, undefined);
});

test("an error names the faulty file and states what is wrong with it", async () => {
  const rows: readonly (readonly [Readonly<Record<string, string | Uint8Array>>, RegExp])[] = [
    [
      { "model.onnx": streamingModel.subarray(0, 1200) },
      /^model\.onnx: is cut off after 1,200 of at least 3,\d{3},\d{3} bytes$/,
    ],
    [{ "model.onnx": "not found" }, /^model\.onnx: is not an ONNX model$/],
    [{ "model.onnx": "" }, /^model\.onnx: is empty$/],
    [
      { "model.onnx": Buffer.from(streamingModel).fill(0xff, 200_000, 200_400).fill(7, 40, 900) },
      /^model\.onnx: cannot be loaded: ./,
    ],
    [
      { "model.onnx": bytesOf("whole", "model.onnx") },
      /^model\.onnx: is a zipformer-ctc model, not streaming-nemo-ctc$/,
    ],
    [
      { "model.onnx": withText(streamingModel, "chunk_shift", "chunk_sh1ft") },
      /^model\.onnx: its metadata chunk_shift is required$/,
    ],
    [
      {
        "model.onnx": withText(
          streamingModel,
          "window_size\u0012\u000225",
          "window_size\u0012\u0002-5",
        ),
      },
      /^model\.onnx: its metadata window_size must be a whole number from 1 to 999999, not "-5"$/,
    ],
    [
      {
        "model.onnx": withText(
          streamingModel,
          "window_size\u0012\u000225",
          "window_size\u0012\u000224",
        ),
      },
      /^model\.onnx: cannot process silence: ./,
    ],
    [
      {
        "model.onnx": withText(
          streamingModel,
          "chunk_shift\u0012\u000216",
          "chunk_shift\u0012\u000212",
        ),
      },
      /^model\.onnx: has 4 outputs of 40 ms for 120 ms of each window$/,
    ],
    [
      {
        // The other operator has a shorter name, so a comment of one letter fills the gap.
        "model.onnx": withText(streamingModel, '"\nLogSoftmax', '"\u0007Softmax2\u0001x'),
      },
      /^model\.onnx: its outputs are not log probabilities of tokens$/,
    ],
    [{ "tokens.txt": "a 0\nb 1\nc\n" }, /^tokens\.txt: line 3 is not a symbol and a number$/],
    [{ "tokens.txt": `${tokens}x 38\n` }, /^tokens\.txt: has 39 tokens, model\.onnx has 38$/],
    [
      { "tokens.txt": tokens.replace("<blk>", "<what>") },
      /^tokens\.txt: has no blank: <blk>, <blank> or <eps>$/,
    ],
    [{ "words.txt": "takk\nfyrir mig\n" }, /^words\.txt: line 2 is not a word$/],
  ];
  for (const [files, message] of rows) {
    const opened = openCtcModel(bareCard("streaming"), damaged("streaming", files));
    await assert.rejects(opened, (error: Error) => {
      assert.match(error.message, message);
      return true;
    });
  }
});

test("the sizes and checksums of the card are checked first", async () => {
  const files = { "model.onnx": streamingModel.subarray(0, 1200) };
  const opened = openCtcModel(starterCard("streaming"), damaged("streaming", files));
  const bytes = streamingModel.length.toLocaleString("en-US");
  const message = `model.onnx: is cut off after 1,200 of ${bytes} bytes`;
  await assert.rejects(opened, { message });
});

test("a card that does not match its model is rejected", async () => {
  const rows = [
    [
      { ...bareCard("whole"), kind: "streaming-nemo-ctc" },
      /^model\.onnx: is a zipformer-ctc model, not streaming-nemo-ctc$/,
    ],
    [
      bareCard("whole", { frameMs: "forty" }),
      /^model\.json: option frameMs must be a number of at least 0, not forty$/,
    ],
    [
      { ...bareCard("whole"), sampleRateHertz: 8000 },
      /^model\.json: sampleRateHertz must be 16000, not 8000$/,
    ],
    [{ ...bareCard("whole"), files: {} }, /^model\.json: must name the files model and tokens$/],
  ] as const;
  for (const [card, message] of rows) {
    await assert.rejects(openCtcModel(card, starterFolders.whole), (error: Error) => {
      assert.match(error.message, message);
      return true;
    });
  }
});

test("windows of a streaming model must be whole frames, without gaps, and not too large", async () => {
  const rows: readonly (readonly [ModelCard["options"], RegExp])[] = [
    [
      { shiftFrames: 15.5 },
      /^model\.json: option shiftFrames must be a whole number from 1 to 999999, not 15\.5$/,
    ],
    [
      { windowFrames: 0 },
      /^model\.json: option windowFrames must be a whole number from 1 to 999999, not 0$/,
    ],
    [
      { windowFrames: 1e300 },
      /^model\.json: option windowFrames must be a whole number from 1 to 999999, not 1e\+300$/,
    ],
    [{ windowFrames: 900_000 }, /^model\.onnx: has an input of 1 times 80 times 900000 numbers/],
    [
      { shiftFrames: 160, frameMs: 400 },
      /^model\.onnx: skips frames: it shifts 160 for a window of 25$/,
    ],
  ];
  for (const [options, message] of rows) {
    const opened = openCtcModel(bareCard("streaming", options), starterFolders.streaming);
    await assert.rejects(opened, (error: Error) => {
      assert.match(error.message, message);
      return true;
    });
  }
});

test("a provider that this machine cannot use is named with its setting", async () => {
  const opened = openCtcModel(starterCard("streaming"), starterFolders.streaming, ["cuda", "cpu"]);
  await assert.rejects(opened, (error: Error) => {
    assert.match(error.message, /^HLUST_ONNX_PROVIDERS=cuda,cpu cannot be used: .*shared library/);
    assert.match(error.message, /docs\/models\.md/);
    return true;
  });
});
