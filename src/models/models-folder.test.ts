import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { testCard, writeModel } from "../../test/fixtures/model-fixture.ts";
import { readModels, type ModelFolders } from "./models-folder.ts";

let folders: ModelFolders;
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), "hlust-models-"));
  folders = { builtin: join(root, "builtin"), installed: join(root, "installed") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
});
afterEach(() => {
  rmSync(join(folders.builtin, ".."), { recursive: true, force: true });
});

test("missing folders contain no models", async () => {
  const nowhere = join(folders.builtin, "nowhere");
  const found = await readModels({ builtin: nowhere, installed: nowhere });
  assert.deepEqual(found, { models: [], refused: [] });
});

test("models are read by name, and an installed model replaces one that comes with Hlust", async () => {
  writeModel(join(folders.builtin, "b"), testCard("b"));
  writeModel(join(folders.builtin, "a"), testCard("a"));
  writeModel(join(folders.installed, "b"), testCard("b", { version: "2" }));
  writeModel(join(folders.installed, ".hidden"), testCard("hidden"));
  writeFileSync(join(folders.installed, "README"), "no model");
  const { models, refused } = await readModels(folders);
  assert.deepEqual(refused, []);
  assert.deepEqual(
    models.map(({ card, folder, bytes, isBuiltin }) => [card.version, folder, bytes, isBuiltin]),
    [
      ["1", join(folders.builtin, "a"), 11, true],
      ["2", join(folders.installed, "b"), 11, false],
    ],
  );
});

test("a broken model is refused with an error that names the file and the reason; the others still work", async () => {
  const { installed } = folders;
  const outside = join(folders.builtin, "..", "outside");
  writeModel(outside, testCard("linked"));
  writeModel(join(installed, "good"), testCard("good"));
  const files = {
    model: { path: "model.onnx", bytes: 7 },
    tokens: { path: "tokens.txt", bytes: 9 },
  };
  const rows: [name: string, make: (folder: string) => void, reason: RegExp][] = [
    ["empty", (folder) => mkdirSync(folder), /^there is no file model\.json$/],
    ["json", (folder) => writeModel(folder, "{"), /^model\.json: .*JSON/],
    ["large", (folder) => writeModel(folder, " ".repeat(1 << 21)), /more than 1 MiB/],
    [
      "fields",
      (folder) => writeModel(folder, "{}"),
      /^model\.json: .*name is required.*licence is/,
    ],
    [
      "renamed",
      (folder) => writeModel(folder, testCard("other")),
      /the name in the card is "other", but the folder is "renamed"/,
    ],
    [
      "gone",
      (folder) => writeModel(folder, testCard("gone"), {}),
      /model\.onnx is not a file.*sub\//,
    ],
    [
      "size",
      (folder) =>
        writeModel(folder, testCard("size", { files }), {
          "model.onnx": "w",
          "tokens.txt": "nine byte",
        }),
      /^model\.onnx has 1 bytes, but model\.json says 7$/,
    ],
    [
      "up",
      (folder) =>
        writeModel(folder, testCard("up", { files: { model: { path: "../good/model.onnx" } } })),
      /path must be/,
    ],
    [
      "own",
      (folder) => writeModel(folder, testCard("own", { files: { model: { path: "model.json" } } })),
      /path must be/,
    ],
    [
      "line",
      (folder) =>
        writeModel(folder, testCard("line", { files: { model: { path: "a\n/../../x" } } })),
      /path must be/,
    ],
    [
      "colors",
      (folder) =>
        writeModel(folder, testCard("colors", { licence: "\u001b[2J\u001b]0;MIT\u0007" })),
      /licence must be .* not "\\u001b\[2J/,
    ],
    [
      "bell",
      (folder) =>
        writeModel(folder, testCard("bell", { files: { model: { path: "m\u0007.onnx" } } })),
      /path must be .* not "m\\u0007\.onnx"/,
    ],
    [
      "folder",
      (folder) => {
        writeModel(folder, testCard("folder"), { "sub/tokens.txt": "" });
        mkdirSync(join(folder, "model.onnx"));
      },
      /^model\.onnx is not a file in its folder$/,
    ],
    [
      "file-link",
      (folder) => {
        writeModel(folder, testCard("file-link"), { "sub/tokens.txt": "" });
        symlinkSync(join(outside, "model.onnx"), join(folder, "model.onnx"));
      },
      /^model\.onnx is not a file in its folder$/,
    ],
    [
      "folder-link",
      (folder) => {
        writeModel(folder, testCard("folder-link"), { "model.onnx": "" });
        symlinkSync(join(outside, "sub"), join(folder, "sub"));
      },
      /^sub\/tokens\.txt is not a file in its folder$/,
    ],
    [
      "card-link",
      (folder) => {
        mkdirSync(folder);
        symlinkSync(join(outside, "model.json"), join(folder, "model.json"));
      },
      /^there is no file model\.json$/,
    ],
    ["linked", (folder) => symlinkSync(outside, folder), /is a link that leads elsewhere/],
    ["loop", (folder) => symlinkSync("loop", folder), /is a link that leads elsewhere/],
    ["step", (folder) => symlinkSync(".installed/../../outside", folder), /leads elsewhere/],
    ["dangling", (folder) => symlinkSync(".installed/dangling-1", folder), /no file model\.json/],
  ];
  for (const [name, make] of rows) make(join(installed, name));
  const { models, refused } = await readModels(folders);
  assert.deepEqual(
    models.map(({ card }) => card.name),
    ["good"],
  );
  assert.equal(refused.length, rows.length);
  for (const [name, , reason] of rows) {
    const found = refused.find(({ folder }) => folder === join(installed, name));
    assert.match(found?.reason ?? "", reason, name);
  }
});

test("a broken model does not replace the model that comes with Hlust", async () => {
  writeModel(join(folders.builtin, "a"), testCard("a"));
  writeModel(join(folders.installed, "a"), "{}");
  const { models, refused } = await readModels(folders);
  assert.deepEqual(
    models.map(({ isBuiltin }) => isBuiltin),
    [true],
  );
  assert.equal(refused.length, 1);
});
