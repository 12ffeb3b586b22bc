import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  hiddenNames,
  onlyModel,
  sha256Of,
  testCard,
  writeModel,
} from "../../test/fixtures/model-fixture.ts";
import { addModel } from "./add-model.ts";
import { removeModel, stageModel } from "./install-model.ts";
import { readModels, type ModelFolders } from "./models-folder.ts";

let folders: ModelFolders;
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), "hlust-install-"));
  folders = { builtin: join(root, "builtin"), installed: join(root, "installed") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
});
afterEach(() => {
  rmSync(join(folders.builtin, ".."), { recursive: true, force: true });
});

async function install(name: string, version: string): Promise<void> {
  await using staged = await stageModel(folders.installed, name);
  writeModel(staged.folder, testCard(name, { version }));
  await staged.install();
}

async function versions(): Promise<string[]> {
  const { models, refused } = await readModels(folders);
  assert.deepEqual(refused, []);
  return models.map(({ card }) => `${card.name} ${card.version}`);
}

test("a model is installed, replaced and removed, leaving nothing behind", async () => {
  await install("a", "1");
  await install("b", "1");
  await install("a", "2");
  assert.deepEqual(await versions(), ["a 2", "b 1"]);
  assert.equal(hiddenNames(folders.installed).installed.length, 2);
  assert.match(readlinkSync(join(folders.installed, "a")), /^\.installed\/a-[0-9a-f]{12}$/);
  mkdirSync(join(folders.installed, ".downloads/a"), { recursive: true });
  await removeModel(folders, "a");
  assert.deepEqual(hiddenNames(folders.installed).downloads, []);
  assert.deepEqual(await versions(), ["b 1"]);
  assert.equal(hiddenNames(folders.installed).installed.length, 1);
});

test("a staged model that is not installed is not listed, and is removed", async () => {
  await install("a", "1");
  {
    await using staged = await stageModel(folders.installed, "a");
    writeModel(staged.folder, testCard("a", { version: "2" }));
    assert.deepEqual(await versions(), ["a 1"]);
    assert.equal(hiddenNames(folders.installed).installed.length, 2);
  }
  assert.deepEqual(await versions(), ["a 1"]);
  assert.equal(hiddenNames(folders.installed).installed.length, 1);
});

test("the second of two commands on the same model is rejected; commands on other models do not interfere", async () => {
  await using staged = await stageModel(folders.installed, "a");
  writeModel(staged.folder, testCard("a"));
  await assert.rejects(
    stageModel(folders.installed, "a"),
    /another command is changing the model a/,
  );
  await install("b", "1");
  await removeModel(folders, "b");
  await staged.install();
  assert.deepEqual(await versions(), ["a 1"]);
  await assert.rejects(removeModel(folders, "a"), /another command is changing/);
});

test("the leftovers of killed commands on any model are removed by the next command; other files stay", async () => {
  await install("a", "1");
  const hidden = join(folders.installed, ".installed");
  writeModel(join(hidden, "a-000000000000"), testCard("a"));
  writeModel(join(hidden, "gone-000000000000"), testCard("gone"));
  symlinkSync(".installed/gone-000000000000", join(hidden, "gone-000000000000.link"));
  symlinkSync(".installed/gone-000000000000", join(hidden, "gone-000000000001"));
  writeFileSync(join(hidden, "notes"), "by hand");
  await install("b", "1");
  const names = hiddenNames(folders.installed).installed.map((name) =>
    name.replace(/[^-]{12}$/, ""),
  );
  assert.deepEqual(names.toSorted(), ["a-", "b-", "notes"]);
  assert.deepEqual(await versions(), ["a 1", "b 1"]);
});

test("a model that was installed by hand is not replaced, but can be removed", async () => {
  const { installed } = folders;
  writeModel(join(installed, "a"), testCard("a"));
  symlinkSync("/nowhere", join(installed, "b"));
  writeFileSync(join(installed, "c"), "a file");
  for (const name of ["a", "b", "c"]) {
    await assert.rejects(stageModel(installed, name), /was installed by hand and is not replaced/);
  }
  await removeModel(folders, "a");
  await removeModel(folders, "b");
  assert.deepEqual(await versions(), []);
  await install("a", "2");
  assert.deepEqual(await versions(), ["a 2"]);
});

test("a folder that is created during an installation is not lost", async () => {
  await using staged = await stageModel(folders.installed, "a");
  writeModel(staged.folder, testCard("a"));
  writeModel(join(folders.installed, "a"), testCard("a", { version: "by hand" }));
  await assert.rejects(staged.install(), /was installed by hand/);
  assert.deepEqual(await versions(), ["a by hand"]);
});

test("a model that comes with Hlust cannot be removed, but its replacement can", async () => {
  writeModel(join(folders.builtin, "a"), testCard("a"));
  await assert.rejects(removeModel(folders, "a"), /a comes with Hlust and cannot be removed/);
  await install("a", "2");
  assert.deepEqual(await versions(), ["a 2"]);
  await removeModel(folders, "a");
  assert.deepEqual(await versions(), ["a 1"]);
  for (const name of ["b", "", "..", ".installed", "a/b", "/"]) {
    await assert.rejects(removeModel(folders, name), /no model ".*" is installed/, name);
  }
});

test("addModel() copies the files of the card with their sizes and checksums; an invalid folder adds nothing", async () => {
  const { installed, builtin: elsewhere } = folders;
  const good = join(elsewhere, "good");
  writeModel(good, testCard("good"));
  writeFileSync(join(good, "notes.txt"), "not named");
  const verified: string[] = [];
  const verify = (folder: string): Promise<void> => {
    verified.push(folder);
    return Promise.resolve();
  };
  await addModel(good, { modelsFolder: installed, verify });
  const model = await onlyModel(installed);
  assert.deepEqual(verified, [model.folder]);
  assert.deepEqual(model.card.files["model"], {
    path: "model.onnx",
    bytes: 7,
    sha256: sha256Of("weights"),
  });
  const rows: [make: (folder: string) => void, message: RegExp][] = [
    [() => {}, /there is no file model\.json/],
    [(folder) => writeModel(folder, "[]"), /model\.json: it must be a JSON object/],
    [
      (folder) => writeModel(folder, testCard("x"), { "model.onnx": "w" }),
      /tokens\.txt is not a file/,
    ],
    [
      (folder) => {
        writeModel(folder, testCard("x"), { "sub/tokens.txt": "" });
        mkdirSync(join(folder, "model.onnx"));
      },
      /model\.onnx is not a file/,
    ],
    [
      (folder) =>
        writeModel(
          folder,
          testCard("x", { files: { model: { path: "model.onnx", sha256: "0".repeat(64) } } }),
        ),
      /model\.onnx does not match its card/,
    ],
    [
      (folder) => writeModel(folder, testCard("x", { files: { model: { path: "/etc/passwd" } } })),
      /files\.model\.path must be/,
    ],
  ];
  for (const [at, [make, message]] of rows.entries()) {
    const folder = join(elsewhere, `broken-${at}`);
    make(folder);
    await assert.rejects(addModel(folder, { modelsFolder: installed }), message);
  }
  await assert.rejects(
    addModel(good, { modelsFolder: installed, freeBytes: () => Promise.resolve(5) }),
    /not enough disk space/,
  );
  const failure = new Error("recognizes nothing");
  const failing = addModel(good, {
    modelsFolder: installed,
    verify: () => Promise.reject(failure),
  });
  await assert.rejects(failing, failure);
  assert.equal(hiddenNames(installed).installed.length, 1);
  assert.deepEqual(hiddenNames(installed).downloads, []);
});
