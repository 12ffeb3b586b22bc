// Runs `hlust models` as a program with servers on this machine.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  catalogueText,
  hiddenNames,
  modelArchive,
  onlyModel,
  serveDownloads,
  sha256Of,
  testCard,
  writeModel,
} from "./fixtures/model-fixture.ts";
import { runHlust, type EndedCommand } from "./fixtures/run-hlust.ts";

const archive = modelArchive("weights of a model");

let folder: string;
let environment: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-models-test-"));
  environment = {
    HLUST_DATA: join(folder, "data"),
    HLUST_MODELS: join(folder, "models"),
    HLUST_CATALOGUE: join(folder, "catalogue.json"),
  };
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function models(...args: string[]): Promise<EndedCommand> {
  return await runHlust(["models", ...args], environment);
}

function writeCatalogue(url: string, version = "1"): void {
  const download = { url, bytes: archive.length, sha256: sha256Of(archive) };
  const downloads = [{ ...download, unpack: "tar.bz2" as const }];
  const text = catalogueText(
    { card: testCard("english-small", { version }), downloads },
    { card: testCard("english-large"), downloads: [{ url, unpack: "tar.bz2" }] },
  );
  writeFileSync(join(folder, "catalogue.json"), text);
}

/** Returns the names of installed models, except those that come with Hlust. */
async function installedNames(): Promise<string[]> {
  const { models: all } = JSON.parse((await models("list", "--json")).out);
  return all
    .filter(({ isBuiltin }: { isBuiltin: boolean }) => !isBuiltin)
    .map(({ name, version }: { name: string; version: string }) => `${name} ${version}`);
}

test("a model is pulled, listed, replaced by its next version, and removed", async () => {
  await using server = await serveDownloads((_request, response) => response.end(archive));
  writeCatalogue(`${server.url}/it.tar.bz2`);
  const before = await models("available");
  assert.equal(before.code, 0, before.errors);
  assert.match(before.out, /^english-small +en-US +short,job +0\.0 MB +\? +CC0-1\.0$/m);
  assert.match(before.out, /^english-large +en-US +short,job +\? +\? +CC0-1\.0$/m);

  const unloadable = await models("pull", "english-small");
  assert.equal(unloadable.code, 1);
  assert.match(
    unloadable.errors,
    /english-small cannot be loaded: model\.onnx: is not an ONNX model/,
  );
  assert.match(unloadable.errors, /^\[={16}\] 100 %  0\.0 MB of 0\.0 MB/m);
  assert.deepEqual(await installedNames(), []);

  const pulled = await models("pull", "--no-verify", "english-small");
  assert.equal(pulled.code, 0, pulled.errors);
  assert.match(pulled.out, /^english-small 1, licence CC0-1\.0, from made by a test$/m);
  assert.match(pulled.out, /^download: 0\.0 MB, of which 0\.0 MB are here$/m);
  assert.match(pulled.out, /^disk: {5}unknown when installed; \d.* are free$/m);
  assert.match(pulled.out, /^memory: {3}about .* for each process; this machine has .* cores: \d/m);
  assert.match(pulled.out, /^runs: {5}short recordings, jobs; not live streams/m);
  assert.match(pulled.out, /^english-small is installed in \/.*\/models$/m);
  assert.doesNotMatch(pulled.errors, /^\[/m, "a finished download is not repeated");
  assert.match(pulled.errors, /^unpacking \[={16}\] 100 % .*\ninstalling\n$/m);

  const list = await models("list");
  const line =
    /^english-small +en-US +short,job +ctc\/zipformer-ctc +0\.0 MB +CC0-1\.0 +installed$/m;
  assert.match(list.out, line);
  assert.match((await models("available")).out, /^english-small .* installed$/m);
  const { models: available } = JSON.parse((await models("available", "--json")).out);
  assert.deepEqual(
    available.map((entry: { isInstalled: boolean }) => entry.isInstalled),
    [true, false],
  );
  assert.equal(available[0].downloadBytes, archive.length);

  const again = await models("pull", "english-small");
  assert.match(again.out, /^english-small 1 is already installed, in \//);
  writeCatalogue(server.url, "2");
  assert.equal((await models("pull", "english-small", "--no-verify")).code, 0);
  assert.deepEqual(await installedNames(), ["english-small 2"]);
  assert.equal((await onlyModel(join(folder, "models"))).card.version, "2");
  assert.equal((await models("remove", "english-small")).out, "english-small is removed\n");
  assert.deepEqual(await installedNames(), []);
  assert.deepEqual(hiddenNames(join(folder, "models")), { installed: [], downloads: [] });
});

test("a size that the catalogue does not have is asked of the server", async () => {
  await using server = await serveDownloads((_request, response) => {
    response.writeHead(200, { "content-length": 7_000_000 });
    response.write(archive);
  });
  writeCatalogue(`${server.url}/it.tar.bz2`);
  let out = "";
  const { code } = await runHlust(["models", "pull", "english-large"], environment, (child) => {
    child.stdout?.on("data", (chunk) => {
      out += String(chunk);
      // The server never sends the rest.
      if (out.includes("runs: ")) child.kill("SIGKILL");
    });
  });
  assert.equal(code, null);
  assert.match(out, /^download: 7\.0 MB$/m);
});

test("similar names are suggested, and an invalid catalogue is reported", async () => {
  writeCatalogue("http://127.0.0.1:1/");
  const pulled = await models("pull", "english-smal");
  assert.equal(pulled.code, 1);
  assert.match(pulled.errors, /no model "english-smal": did you mean english-small\?/);
  assert.match((await models("pull", "zzz")).errors, /the catalogue has no model "zzz"\n$/);
  writeFileSync(join(folder, "catalogue.json"), '{"models": [{"name": "x"}]}');
  const wrong = await models("available");
  assert.equal(wrong.code, 1);
  assert.match(wrong.errors, /catalogue\.json: .*models\[0\]\.version is required/);
  rmSync(join(folder, "catalogue.json"));
  assert.match((await models("pull", "x")).errors, /ENOENT.*catalogue\.json/);
});

test("a missing server, or a server with a different file, is reported, and nothing is installed", async () => {
  await using other = await serveDownloads((_request, response) => response.end("<html>"));
  writeCatalogue(`${other.url}/it`);
  const { code, out, errors } = await models("pull", "english-small");
  assert.equal(code, 1);
  assert.doesNotMatch(out, /is installed/);
  assert.match(
    errors,
    /^hlust: http:\/\/127\S+\/it: the file has 6 bytes; the catalogue says \d+/m,
  );
  assert.deepEqual(await installedNames(), []);
});

test("a folder is added, and an invalid folder is refused with a reason", async () => {
  const mine = join(folder, "mine");
  writeModel(mine, testCard("mine"));
  assert.match((await models("add", mine)).errors, /mine cannot be loaded/);
  assert.deepEqual(await installedNames(), []);
  const added = await models("add", "--no-verify", mine);
  assert.equal(added.code, 0, added.errors);
  assert.match(added.out, /^mine 1 is installed in \//);
  const { folder: installed } = await onlyModel(join(folder, "models"));
  assert.equal(readFileSync(join(installed, "model.onnx"), "utf8"), "weights");
  writeModel(mine, "{}");
  const broken = await models("add", mine);
  assert.equal(broken.code, 1);
  assert.match(broken.errors, /model\.json: .*name is required.*licence is required/);
  const removed = await models("remove", "mime");
  assert.equal(removed.code, 1);
  assert.match(removed.errors, /no model "mime" is installed: did you mean mine\?/);
});

test("list shows broken models next to good ones", async () => {
  writeModel(join(folder, "models/good"), testCard("good"));
  writeModel(join(folder, "models/bad"), testCard("bad"), { "model.onnx": "w" });
  const { code, out } = await models("list");
  assert.equal(code, 0);
  assert.match(out, /^good /m);
  assert.match(
    out,
    /^Cannot be used: \/\S+\/models\/bad: sub\/tokens\.txt is not a file in its folder$/m,
  );
  const { refused } = JSON.parse((await models("list", "--json")).out);
  assert.equal(refused.length, 1);
});

test("a model that fails is reported with what a report needs, and no names of folders", async () => {
  writeModel(join(folder, "models/good"), testCard("good"));
  const { code, out, errors } = await models("test", "good");
  assert.equal(code, 1);
  assert.match(errors, /model\.onnx: is not an ONNX model/);
  assert.match(out, /^For a report of this \(/m);
  assert.match(out, /^hlust .*, Node /m);
  assert.match(out, /^model: good 1, ctc\/zipformer-ctc, en-US, short,job$/m);
  assert.match(out, /^ {2}model: model\.onnx, 7 bytes, SHA-256 [0-9a-f]{64}$/m);
  assert.match(out, /^error: .*model\.onnx: is not an ONNX model/m);
  assert.ok(!out.includes(folder) && !out.includes(tmpdir()), out);
});

test("testing a missing or broken model fails", async () => {
  writeModel(join(folder, "models/good"), testCard("good"));
  writeModel(join(folder, "models/bad"), "{}");
  const rows: [name: string, message: RegExp][] = [
    ["god", /no model "god" is installed: did you mean good\?/],
    ["bad", /models\/bad: model\.json: .*name is required/],
  ];
  for (const [name, message] of rows) {
    const { code, errors } = await models("test", name);
    assert.equal(code, 1);
    assert.match(errors, message);
  }
});

test("invalid arguments result in exit code 2 and the usage", async () => {
  const rows: [args: string[], message: RegExp][] = [
    [["install"], /unknown subcommand "install" of models/],
    [["pull"], /the name of a model is missing/],
    [["pull", "a", "b"], /unexpected argument "b"/],
    [["pull", "--force", "a"], /unexpected argument "--force"/],
    [["list", "a"], /unexpected argument "a"/],
    [["list", "--xml"], /--xml/],
    [["add"], /the folder of a model is missing/],
    [["remove", ""], /the name of a model is missing/],
    [["test"], /the name of a model is missing/],
    [["test", "a", "b.wav", "c"], /unexpected argument "c"/],
  ];
  for (const [args, message] of rows) {
    const { code, errors } = await models(...args);
    assert.equal(code, 2, args.join(" "));
    assert.match(errors, message);
    assert.match(errors, /Usage: hlust models <what>/);
  }
  const { code, out } = await models("pull", "--help");
  assert.deepEqual([code, /pull NAME/.test(out)], [0, true]);
});
