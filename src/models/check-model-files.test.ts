import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  checkModelFiles,
  ModelFileError,
  readModelTokens,
  readOnnxMetadata,
} from "./check-model-files.ts";

const starter = readFileSync(new URL("../../models/is-IS-starter/model.onnx", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hlust-model-files-"));
after(() => rmSync(folder, { recursive: true }));

function put(path: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, path), content);
}

const failsWith = (message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof ModelFileError);
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

test("a file that matches its card passes", async () => {
  const bytes = Buffer.from("hello");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  put("a.txt", bytes);
  await checkModelFiles(folder, { a: { path: "a.txt" } });
  await checkModelFiles(folder, { a: { path: "a.txt", bytes: 5, sha256 } });
});

test("an error names a file that does not match its card, and the reason", async () => {
  put("a.txt", "hello");
  put("empty.txt", "");
  const sha256 = createHash("sha256").update("world").digest("hex");
  const rows = [
    [{ path: "no.txt" }, "no.txt: is missing"],
    [{ path: "." }, ".: is not a file"],
    [{ path: "empty.txt" }, "empty.txt: is empty"],
    [{ path: "a.txt", bytes: 1200 }, "a.txt: is cut off after 5 of 1,200 bytes"],
    [{ path: "a.txt", bytes: 4 }, "a.txt: has 5 bytes instead of 4"],
    [
      { path: "a.txt", sha256 },
      /^a\.txt: is another file: its SHA-256 is 2cf24dba.* instead of 486ea462/,
    ],
  ] as const;
  for (const [file, message] of rows) {
    await assert.rejects(checkModelFiles(folder, { file }), failsWith(message));
  }
});

test("readOnnxMetadata() reads the metadata of a model", async () => {
  put("model.onnx", starter);
  const metadata = await readOnnxMetadata(folder, { path: "model.onnx" });
  assert.equal(metadata.get("chunk_shift"), "16");
  assert.equal(metadata.get("cache_last_time_dim3"), "288");
});

test("a file that is not ONNX, or is truncated anywhere in its graph, is rejected", async () => {
  const bytesLeft = (starter.length - 2000).toLocaleString("en-US");
  const rows = [
    [
      starter.subarray(0, 1200),
      /^model\.onnx: is cut off after 1,200 of at least 3,\d+,\d+ bytes$/,
    ],
    [
      starter.subarray(0, -2000),
      new RegExp(`^model\\.onnx: is cut off after ${bytesLeft} of at least 3,`),
    ],
    [starter.subarray(0, 2), "model.onnx: is cut off: it has no graph"],
    [Buffer.from("<!doctype html><title>404</title>"), "model.onnx: is not an ONNX model"],
    [
      Buffer.from("version https://git-lfs.github.com/spec/v1\n"),
      "model.onnx: is not an ONNX model",
    ],
    [new Uint8Array(5000), "model.onnx: is not an ONNX model"],
    [Buffer.concat([starter, Buffer.alloc(9)]), `model.onnx: is damaged at byte ${starter.length}`],
  ] as const;
  for (const [bytes, message] of rows) {
    put("model.onnx", bytes);
    const read = readOnnxMetadata(folder, { path: "model.onnx" });
    await assert.rejects(read, failsWith(message));
  }
  await assert.rejects(
    readOnnxMetadata(folder, { path: "no.onnx" }),
    failsWith("no.onnx: is missing"),
  );
});

test("readModelTokens() reads symbols by number", async () => {
  put("tokens.txt", "<blk> 2\r\n 0\n▁ð\t1\n");
  assert.deepEqual(await readModelTokens(folder, { path: "tokens.txt" }), ["", "▁ð", "<blk>"]);
});

test("an error names the first invalid line of the tokens", async () => {
  const rows = [
    ["a 0\nb 1\nc\n", "tokens.txt: line 3 is not a symbol and a number"],
    ["a 0\n\nc 1\n", "tokens.txt: line 2 is not a symbol and a number"],
    ["a 0\nb c 1\n", "tokens.txt: line 2 is not a symbol and a number"],
    ["a 0\nb -1\n", "tokens.txt: line 2 is not a symbol and a number"],
    ["a 0\nb 0\n", "tokens.txt: line 2 repeats the number 0"],
    ["a 0\nb 2\n", "tokens.txt: line 2 has the number 2, but there are only 2 lines"],
    ["", "tokens.txt: is empty"],
    [Buffer.from([0x61, 0xff, 0x20, 0x30]), "tokens.txt: is not UTF-8 text"],
  ] as const;
  for (const [content, message] of rows) {
    put("tokens.txt", content);
    await assert.rejects(readModelTokens(folder, { path: "tokens.txt" }), failsWith(message));
  }
  await assert.rejects(
    readModelTokens(folder, { path: "no.txt" }),
    failsWith("no.txt: is missing"),
  );
});

test("a file that exists but cannot be read is not reported as missing", async () => {
  symlinkSync("loop.txt", join(folder, "loop.txt"));
  const loop = { path: "loop.txt" };
  const refused = failsWith("loop.txt: cannot be read: ELOOP");
  await assert.rejects(checkModelFiles(folder, { loop }), refused);
  await assert.rejects(readOnnxMetadata(folder, loop), refused);
  await assert.rejects(readModelTokens(folder, loop), refused);
});
