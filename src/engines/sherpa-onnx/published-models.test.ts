import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { onlyModel, serveDownloads, sha256Of } from "../../../test/fixtures/model-fixture.ts";
import {
  englishText,
  icelandicText,
} from "../../../test/fixtures/published-models/published-file.ts";
import {
  otherPublished,
  publishedArchive,
  publishedFiles,
} from "../../../test/fixtures/published-models/published-models.ts";
import { recognize, testModelsFolder } from "../../../test/fixtures/sherpa-models.ts";
import { builtinCatalogue, readCatalogue } from "../../models/catalogue.ts";
import { ModelFileError, readOnnxMetadata } from "../../models/check-model-files.ts";
import { type ModelCard, modelKinds } from "../../models/model-card.ts";
import { pullModel } from "../../models/pull-model.ts";
import type { Hypothesis } from "../protocol/engine.ts";
import { openDiarizer } from "./diarizer.ts";
import { checkLibraryFiles } from "./library-files.ts";
import { metadataRules } from "./metadata-rules.ts";
import { openSherpaEngine } from "./sherpa-engine.ts";

const root = mkdtempSync(join(tmpdir(), "hlust-published-"));
after(() => rmSync(root, { recursive: true }));

const entries = await readCatalogue(builtinCatalogue);
const embedding = readFileSync(join(testModelsFolder, "diarization/embedding.onnx"));
/** Two seconds of sound; the models here output the same text for any. */
const sound = Int16Array.from({ length: 32_000 }, (_, at) => 3000 * Math.sin((at * at) / 777));

/** Returns what a model recognizes in one of its languages. */
async function reading(
  card: ModelCard,
  folder: string,
  languageCode: string,
): Promise<Hypothesis | undefined> {
  const engine = await openSherpaEngine(card, folder);
  const decoder = engine.createDecoder({ mode: "short", alternativesMax: 1, languageCode });
  const [first] = await recognize(decoder, sound);
  decoder.close();
  engine.close();
  return first;
}

async function assertRecognizes(card: ModelCard, folder: string): Promise<void> {
  for (const code of card.languageCodes) {
    const found = await reading(card, folder, code);
    assert.equal(found?.text, code === "is-IS" ? icelandicText : englishText, card.name);
    const hasTimes = !["whisper", "moonshine", "streaming-paraformer"].includes(card.kind);
    assert.equal(found?.words.length, hasTimes ? 2 : 0, card.name);
    const hasConfidence = card.kind.endsWith("transducer");
    assert.equal(found?.confidence !== undefined, hasConfidence, card.name);
  }
}

for (const { card, downloads } of entries) {
  test(`${card.name} of the catalogue installs and runs from files of the published form`, async () => {
    const files = publishedFiles[card.name]?.();
    assert.ok(files, "its published files are in the fixture");
    const contents = new Map<string, Buffer>(
      downloads.map(({ url, unpack }) => {
        const archive = publishedArchive(basename(url, ".tar.bz2"), files);
        return [`/${basename(url)}`, unpack ? archive : embedding] as const;
      }),
    );
    await using server = await serveDownloads((request, response) => {
      response.end(contents.get(request.url ?? ""));
    });
    const local = downloads.map((download) => {
      const path = `/${basename(download.url)}`;
      const bytes = contents.get(path) ?? Buffer.alloc(0);
      return { ...download, url: server.url + path, bytes: bytes.length, sha256: sha256Of(bytes) };
    });
    const modelsFolder = join(root, card.name);
    await pullModel({ card, downloads: local }, { modelsFolder });
    const { folder, card: installed } = await onlyModel(modelsFolder);
    if (card.kind === "diarization") {
      await checkLibraryFiles(installed, folder);
      const { turns } = await (await openDiarizer(installed, folder)).diarize(sound);
      assert.ok(turns.length <= 2);
    } else {
      await assertRecognizes(installed, folder);
    }
  });
}

test("every kind of model has files of the published form here", () => {
  const cards = [...entries, ...otherPublished].map(({ card }) => card);
  const found = new Set(cards.map(({ kind }) => kind));
  assert.deepEqual(
    modelKinds["sherpa-onnx"].filter((kind) => !found.has(kind)),
    [],
  );
});

/** Writes the files of a published model, and returns their folder. */
function written(card: ModelCard, files: Readonly<Record<string, Uint8Array | string>>): string {
  const folder = join(root, `written-${card.name}`);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

for (const { card, files } of otherPublished) {
  test(`a published model of the kind ${card.kind} runs, as int8 and as floats`, async () => {
    const folder = written(card, files());
    await assertRecognizes(card, folder);
    const floats = Object.entries(card.files).map(([role, { path }]) => {
      return [role, { path: path.replace(".int8", "") }] as const;
    });
    await assertRecognizes({ ...card, files: Object.fromEntries(floats) }, folder);
  });
}

/** Returns a file in which the name or the value of a metadata entry is another one. */
function damaged(bytes: Uint8Array, key: string, part: "key" | "value"): Buffer {
  const copy = Buffer.from(bytes);
  const field = Buffer.concat([Buffer.of(0x0a, key.length), Buffer.from(key)]);
  const at = copy.lastIndexOf(field);
  assert.ok(at > 0, `${key} is in the file`);
  // The value comes after the key, with a tag and a length of one byte or more.
  let value = at + field.length + 1;
  while ((copy[value] ?? 0) > 0x7f) value += 1;
  copy.write("?", part === "key" ? at + 2 : value + 1);
  return copy;
}

const catalogued = entries.map(({ card }) => ({ card, files: publishedFiles[card.name] }));
const oneOfEach = new Set([
  "nemotron-streaming-en",
  "streaming-zipformer-en",
  "streaming-zipformer-en-20m",
  "parakeet-tdt-en",
  "whisper-tiny-en",
  "whisper-medium",
]);
const checkedRows = [
  ...catalogued.filter(({ card }) => oneOfEach.has(card.name)),
  ...otherPublished,
];

test("an error names the file and the metadata key that a model lacks", async () => {
  let keys = 0;
  for (const { card, files } of checkedRows) {
    const folder = written(card, files?.() ?? {});
    await checkLibraryFiles(card, folder);
    const found = new Map<string, ReadonlyMap<string, string>>();
    for (const [role, file] of Object.entries(card.files)) {
      if (role !== "tokens") found.set(role, await readOnnxMetadata(folder, file));
    }
    for (const [role, rules] of Object.entries(metadataRules(card, found))) {
      const path = card.files[role]?.path ?? "";
      const whole = readFileSync(join(folder, path));
      const { counts = [], lists = [], numbers = [], texts = {} } = rules;
      for (const key of [...counts, ...lists, ...numbers, ...Object.keys(texts)]) {
        for (const part of ["key", "value"] as const) {
          writeFileSync(join(folder, path), damaged(whole, key, part));
          await assert.rejects(checkLibraryFiles(card, folder), (error) => {
            assert.ok(error instanceof ModelFileError, String(error));
            const problem = part === "key" ? "is required" : "must be ";
            const named = `${path}: its metadata ${key} ${problem}`;
            assert.ok(error.message.startsWith(named), `${named}, not ${error.message}`);
            return true;
          });
          keys += 1;
        }
      }
      writeFileSync(join(folder, path), whole);
    }
  }
  assert.ok(keys > 150, `${keys} damages`);
});

test("SenseVoice needs the numbers of its languages and forms of text, as the library reads them", async () => {
  const row = otherPublished.find(({ card }) => card.kind === "sense-voice");
  assert.ok(row);
  const folder = written(row.card, row.files());
  const model = join(folder, "model.int8.onnx");
  const whole = readFileSync(model);
  for (const key of [
    "with_itn",
    "without_itn",
    "lang_auto",
    "lang_yue",
    "neg_mean",
    "inv_stddev",
  ]) {
    writeFileSync(model, damaged(whole, key, "key"));
    await assert.rejects(checkLibraryFiles(row.card, folder), {
      message: `model.int8.onnx: its metadata ${key} is required`,
    });
  }
  // Fun-ASR-Nano, which the library reads as this kind too, has none of them.
  const nano = Buffer.from(whole);
  nano.write("iic/Nano", whole.indexOf("iic/SenseVoiceSmall"));
  writeFileSync(model, damaged(nano, "with_itn", "key"));
  await checkLibraryFiles(row.card, folder);
});

test("an error names a file that has another part of the model, or is of another kind", async () => {
  const at = (name: string) => entries.find(({ card }) => card.name === name)?.card;
  const [whisper, zipformer] = [at("whisper-tiny-en"), at("streaming-zipformer-en")];
  assert.ok(whisper && zipformer);
  const rows: readonly [ModelCard, Partial<ModelCard>, RegExp][] = [
    [
      whisper,
      { files: { ...whisper.files, encoder: whisper.files["decoder"] ?? { path: "" } } },
      /^tiny\.en-decoder\.int8\.onnx: its metadata n_mels is required$/,
    ],
    [
      zipformer,
      { files: { ...zipformer.files, decoder: zipformer.files["encoder"] ?? { path: "" } } },
      /^encoder-.*\.int8\.onnx: its metadata vocab_size is required$/,
    ],
    [
      zipformer,
      { files: { ...zipformer.files, encoder: zipformer.files["decoder"] ?? { path: "" } } },
      /^decoder-.*\.int8\.onnx: its metadata model_type is required$/,
    ],
  ];
  for (const [card, changes, message] of rows) {
    const folder = written(card, publishedFiles[card.name]?.() ?? {});
    await assert.rejects(checkLibraryFiles({ ...card, ...changes }, folder), { message });
  }
});

test("an error names the line of the tokens that the library cannot read", async () => {
  const [{ card, files }] = otherPublished;
  const folder = written(card, files());
  const rows: readonly [content: string, message: string][] = [
    ["<blk> 0\n\u2581go od 1\n", "tokens.txt: line 2 is not a symbol and a number"],
    ["<blk> 0\ngo\n", "tokens.txt: line 2 is not a symbol and a number"],
    ["<blk> 0\ngo x\n", "tokens.txt: line 2 is not a symbol and a number"],
    ["a 0\nb 1\n", "tokens.txt: has no blank: <blk> or <eps> or <blank> is required"],
    ["", "tokens.txt: is empty"],
  ];
  for (const [content, message] of rows) {
    writeFileSync(join(folder, "tokens.txt"), content);
    await assert.rejects(checkLibraryFiles(card, folder), { message });
  }
  // Forms that publishers use: tabs, an empty symbol for the space, and a symbol twice.
  for (const content of ["<blk>\t0\ngo\t1\n", "<blk> 0\n 1\n", "<blk> 0\r\na 1\r\na 2\r\n"]) {
    writeFileSync(join(folder, "tokens.txt"), content);
    await checkLibraryFiles(card, folder);
  }
});
