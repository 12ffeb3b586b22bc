import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { dirname, join } from "node:path";
import type { ModelDownload } from "../src/engines/models/catalogue.ts";
import type { ModelCard } from "../src/engines/models/model-card.ts";
import { readModels, type InstalledModel } from "../src/engines/models/models-folder.ts";
import { tarBytes } from "./tar-bytes.ts";

/** The card of a model that nobody will load: model.onnx and tokens.txt. */
export function testCard(name: string, changes: Partial<ModelCard> = {}): ModelCard {
  return {
    name,
    version: "1",
    languageCodes: ["en-US"],
    engine: "ctc",
    kind: "zipformer-ctc",
    uses: ["short", "job"],
    preference: 10,
    sampleRateHertz: 16_000,
    files: { model: { path: "model.onnx" }, tokens: { path: "sub/tokens.txt" } },
    options: {},
    licence: "CC0-1.0",
    source: "made by a test",
    trainedOn: "nothing",
    accuracy: [],
    ...changes,
  };
}

/** Writes a model's folder; `files` in place of what is there otherwise. */
export function writeModel(
  folder: string,
  card: ModelCard | string,
  files: Readonly<Record<string, string>> = { "model.onnx": "weights", "sub/tokens.txt": "a 1\n" },
): void {
  const text = typeof card === "string" ? card : JSON.stringify(card);
  for (const [path, content] of Object.entries({ ...files, "model.json": text })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A model's archive; the content of model.onnx says which. */
export function modelArchive(weights: Uint8Array | string): Buffer {
  const tar = tarBytes([
    { path: "upstream/", type: "5" },
    { path: "upstream/model.onnx", content: weights },
    { path: "upstream/sub/tokens.txt", content: "a 1\n" },
    { path: "upstream/test_wavs/0.wav", content: "RIFF" },
  ]);
  return execFileSync("bzip2", ["-1", "-c"], { input: tar, maxBuffer: 1 << 28 });
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A catalogue's entry as it is written. */
export function catalogueText(
  ...entries: readonly { readonly card: ModelCard; readonly downloads: readonly ModelDownload[] }[]
): string {
  return JSON.stringify({ models: entries.map(({ card, downloads }) => ({ ...card, downloads })) });
}

/** The only model of a folder, when all is well: whole, and nothing else in sight. */
export async function onlyModel(modelsFolder: string): Promise<InstalledModel> {
  const { models, refused } = await readModels({
    builtin: join(modelsFolder, "no-such-folder"),
    installed: modelsFolder,
  });
  assert.deepEqual(refused, []);
  const [model, more] = models;
  assert.ok(model && more === undefined, `${models.length} models`);
  for (const { path, sha256 } of Object.values(model.card.files)) {
    assert.equal(sha256, sha256Of(readFileSync(join(model.folder, path))), path);
  }
  return model;
}

/** What lies hidden in a models folder and means something to nobody: versions that no link names, parts of downloads. */
export function hiddenNames(modelsFolder: string): { installed: string[]; downloads: string[] } {
  const namesOf = (folder: string): string[] => {
    try {
      return readdirSync(join(modelsFolder, folder), { recursive: true, encoding: "utf8" });
    } catch {
      return [];
    }
  };
  const installed = namesOf(".installed").filter((name) => !name.includes("/"));
  return { installed, downloads: namesOf(".downloads") };
}

/** A server of this machine. */
export async function serveDownloads(
  listener: RequestListener,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
