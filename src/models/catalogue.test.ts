import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueText, testCard } from "../../test/fixtures/model-fixture.ts";
import { builtinCatalogue, parseCatalogue, readCatalogue } from "./catalogue.ts";
import { ModelCardError, type ModelKind } from "./model-card.ts";

const transducer = [["encoder", "decoder", "joiner", "tokens"]];
const oneModel = [["model", "tokens"]];

/** The file roles for each kind: the roles of a model match one of these lists. */
const fileRoles: Readonly<Record<ModelKind, readonly (readonly string[])[]>> = {
  "streaming-transducer": transducer,
  transducer,
  "nemo-transducer": transducer,
  "streaming-nemo-ctc": oneModel,
  "streaming-zipformer2-ctc": oneModel,
  "streaming-t-one-ctc": oneModel,
  "nemo-ctc": oneModel,
  "zipformer-ctc": oneModel,
  "wenet-ctc": oneModel,
  "omnilingual-ctc": oneModel,
  "sense-voice": oneModel,
  paraformer: oneModel,
  "streaming-paraformer": [["encoder", "decoder", "tokens"]],
  whisper: [["encoder", "decoder", "tokens"]],
  moonshine: [
    ["preprocessor", "encoder", "uncachedDecoder", "cachedDecoder", "tokens"],
    ["encoder", "mergedDecoder", "tokens"],
  ],
  diarization: [["segmentation", "embedding"]],
  // Models at servers of others have no files, and are never in a catalogue.
  "google-speech": [],
  "riva-speech": [],
  "openai-transcriptions": [],
  "vosk-server": [],
};

const url = "https://models.example/it.tar.bz2";
const good = { card: testCard("it"), downloads: [{ url, unpack: "tar.bz2" as const }] };

test("parseCatalogue() reads entries, and reports all problems together", () => {
  assert.deepEqual(parseCatalogue(catalogueText(good)), [good]);
  const plain = { url, to: "model.onnx", bytes: 5, sha256: "a".repeat(64) };
  const entry = { ...good, downloads: [plain] };
  assert.deepEqual(parseCatalogue(catalogueText(entry)), [entry]);
  const rows: [text: string, message: RegExp][] = [
    ["", /JSON/],
    ["[]", /it must be a JSON object/],
    ['{"models": {}}', /models must be a list/],
    [catalogueText(good, good), /two models are called it/],
    [catalogueText({ ...good, downloads: [] }), /it has no downloads/],
    [catalogueText({ ...good, downloads: [{ url }] }), /needs either unpack or to/],
    [
      catalogueText({ ...good, downloads: [{ ...plain, unpack: "tar.gz" }] }),
      /needs either unpack or to/,
    ],
    [
      catalogueText({ ...good, downloads: [{ url, to: "other.onnx" }] }),
      /other\.onnx is not a file of the model/,
    ],
    [
      catalogueText({ ...good, downloads: [{ url, to: "../x" }] }),
      /downloads\[0\]\.to must be text that matches .*, not "\.\.\/x"/,
    ],
    [
      catalogueText(good).replace('tar.bz2"}', 'zip"}'),
      /unpack must be one of tar\.bz2, tar\.gz, not "zip"/,
    ],
    ...["http://models.example/", "ftp://x/", "file:///x", "it", "https://a:b@models.example/"].map(
      (bad): [string, RegExp] => [
        catalogueText({ ...good, downloads: [{ url: bad, unpack: "tar.gz" }] }),
        /is not https/,
      ],
    ),
  ];
  for (const [text, message] of rows) {
    assert.throws(
      () => parseCatalogue(text),
      (error) => {
        assert.ok(error instanceof ModelCardError);
        assert.match(error.message, message, text);
        return true;
      },
    );
  }
});

test("the catalogue included with Hlust is complete and consistent", async () => {
  const entries = await readCatalogue(builtinCatalogue);
  assert.ok(entries.length >= 8);
  const languages = new Set(entries.flatMap(({ card }) => card.languageCodes));
  assert.ok(languages.has("en-US") && languages.has("is-IS"));
  for (const { card, downloads, diskBytes } of entries) {
    const { name, kind, files, licence, source, uses, accuracy } = card;
    const roles = Object.keys(files).toSorted().join();
    const known = fileRoles[kind].map((list) => list.toSorted().join());
    assert.ok(known.includes(roles), `${name} has the files ${roles}`);
    for (const { url } of downloads) assert.equal(new URL(url).protocol, "https:");
    assert.notEqual(licence.trim(), "");
    assert.match(source, /https:\/\//, name);
    assert.equal(uses.length > 0, kind !== "diarization", name);
    for (const { measuredOn } of accuracy) assert.match(measuredOn, /https:\/\//, name);
    assert.ok(diskBytes === undefined || diskBytes > 1_000_000);
  }
});
