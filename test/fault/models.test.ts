// Installations that are killed: at any moment, the models folder contains either the complete
// previous model or the complete new one.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  catalogueText,
  hiddenNames,
  modelArchive,
  onlyModel,
  serveDownloads,
  sha256Of,
  testCard,
} from "../fixtures/model-fixture.ts";
import { readModels } from "../../src/models/models-folder.ts";
import { runHlust } from "../fixtures/run-hlust.ts";

const kills = 10;
const nowhere = "/no-such-folder";
const archives = [0, 1].map(() => modelArchive(randomBytes(1_500_000)));

test("a pull that is killed at any moment leaves a complete model, and the next pull succeeds", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-killed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await using server = await serveDownloads((request, response) => {
    const bytes = archives[Number(request.url?.slice(1))] ?? Buffer.alloc(0);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": bytes.length - from,
      etag: `"${sha256Of(bytes)}"`,
      ...(from > 0 && { "content-range": range }),
    });
    response.end(bytes.subarray(from));
  });
  const modelsFolder = join(folder, "models");
  const environment = {
    HLUST_DATA: folder,
    HLUST_MODELS: modelsFolder,
    HLUST_CATALOGUE: join(folder, "catalogue.json"),
  };
  const pull = async (version: number, started?: (child: ChildProcess) => void) => {
    const url = `${server.url}/${version % 2}`;
    const card = testCard("it", { version: String(version) });
    const text = catalogueText({ card, downloads: [{ url, unpack: "tar.bz2" }] });
    writeFileSync(join(folder, "catalogue.json"), text);
    return await runHlust(["models", "pull", "--no-verify", "it"], environment, started);
  };
  const pulled = async (version: number): Promise<void> => {
    const { code, errors } = await pull(version);
    assert.equal(code, 0, errors);
    assert.equal((await onlyModel(modelsFolder)).card.version, String(version));
  };
  await pulled(0);
  const began = performance.now();
  await pulled(1);
  const pullMs = performance.now() - began;

  let version = 1;
  const outcomes = { old: 0, new: 0 };
  for (let kill = 0; kill < kills; kill++) {
    const place = (kill + Math.random()) / kills;
    const running = new AbortController();
    const watching = (async () => {
      while (!running.signal.aborted) {
        const { models, refused } = await readModels({ builtin: nowhere, installed: modelsFolder });
        assert.deepEqual([models.length, refused], [1, []], "while it runs");
      }
    })();
    await pull(version + 1, (child) => {
      setTimeout(() => child.kill("SIGKILL"), (0.2 + 1.8 * place) * pullMs);
    });
    running.abort();
    await watching;
    const { card } = await onlyModel(modelsFolder);
    const isOld = card.version === String(version);
    assert.ok(isOld || card.version === String(version + 1), card.version);
    outcomes[isOld ? "old" : "new"] += 1;
    version += 1;
    await pulled(version);
  }
  t.diagnostic(`a pull takes ${pullMs.toFixed(0)} ms; killed: ${JSON.stringify(outcomes)}`);
  assert.ok(outcomes.old > 0);
  const hidden = hiddenNames(modelsFolder);
  assert.deepEqual([hidden.installed.length, hidden.downloads.length], [1, 0]);
});
