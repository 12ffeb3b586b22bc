import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ServiceError } from "../std/service-error.ts";
import { tarBytes, type TarEntry } from "../../test/fixtures/tar-bytes.ts";
import { unpackArchive, type UnpackOptions } from "./unpack-archive.ts";

const root = mkdtempSync(join(tmpdir(), "hlust-unpack-"));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

function bzip2(bytes: Uint8Array): Buffer {
  return execFileSync("bzip2", ["-c"], { input: bytes, maxBuffer: 1 << 28 });
}

/** Unpacks an archive, and returns the content of the folder afterwards. */
async function unpack(
  bytes: Uint8Array,
  options: Partial<UnpackOptions> = {},
): Promise<{ folder: string; names: string[]; written: string[] }> {
  count += 1;
  const archive = join(root, `${count}.archive`);
  const folder = mkdtempSync(join(root, "to-"));
  writeFileSync(archive, bytes);
  const files = [{ path: "model.onnx" }, { path: "sub/tokens.txt" }];
  const written = await unpackArchive({ archive, format: "tar.gz", folder, files, ...options });
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return { folder, names, written: [...written.keys()].toSorted() };
}

async function refused(
  entries: readonly TarEntry[] | Uint8Array,
  message: RegExp,
  options: Partial<UnpackOptions> = {},
): Promise<void> {
  const bytes = entries instanceof Uint8Array ? entries : gzipSync(tarBytes(entries));
  await assert.rejects(unpack(bytes, options), (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, "data_loss");
    assert.match(error.message, message);
    return true;
  });
}

const good: readonly TarEntry[] = [
  { path: "it/", type: "5" },
  { path: "it/model.onnx", content: "weights" },
  { path: "it/README.md", content: "read me" },
  { path: "it/sub/", type: "5" },
  { path: "it/sub/tokens.txt", content: "a 1\n" },
];

test("only the model's files are unpacked, without the top-level folder", async () => {
  const tar = tarBytes(good);
  for (const [format, bytes] of [
    ["tar.gz", gzipSync(tar)],
    ["tar.bz2", bzip2(tar)],
  ] as const) {
    const { folder, names, written } = await unpack(bytes, { format });
    assert.deepEqual(names, ["model.onnx", "sub", "sub/tokens.txt"]);
    assert.deepEqual(written, ["model.onnx", "sub/tokens.txt"]);
    assert.equal(readFileSync(join(folder, "sub/tokens.txt"), "utf8"), "a 1\n");
  }
});

test("archives created by the tar program are unpacked: large files, dots, long names", async () => {
  const folder = mkdtempSync(join(root, "from-"));
  const long = "x".repeat(200);
  const weights = randomBytes(1_500_000);
  execFileSync("mkdir", ["-p", join(folder, "top", long)]);
  writeFileSync(join(folder, "top", long, "model.onnx"), weights);
  writeFileSync(join(folder, "top/empty.txt"), "");
  for (const format of ["gnu", "pax"]) {
    const bytes = execFileSync("tar", ["-c", "-j", `--format=${format}`, "-C", folder, "./top"], {
      maxBuffer: 1 << 28,
    });
    const path = `${long}/model.onnx`;
    const sha256 = createHash("sha256").update(weights).digest("hex");
    const files = [{ path, bytes: weights.length, sha256 }, { path: "empty.txt" }];
    const { folder: to, written } = await unpack(bytes, { format: "tar.bz2", files });
    assert.deepEqual(written, ["empty.txt", path]);
    assert.ok(readFileSync(join(to, path)).equals(weights), format);
  }
});

test("files may be at the archive's root", async () => {
  const { written } = await unpack(
    gzipSync(tarBytes([{ path: "model.onnx", content: "w" }, { path: "./sub/tokens.txt" }])),
  );
  assert.deepEqual(written, ["model.onnx", "sub/tokens.txt"]);
});

test("macOS metadata is skipped", async () => {
  const added = [{ path: "./._it", content: "x" }, ...good, { path: "it/sub/._tokens.txt" }];
  const { names } = await unpack(gzipSync(tarBytes(added)));
  assert.deepEqual(names, ["model.onnx", "sub", "sub/tokens.txt"]);
});

test("an archive with an entry that does not belong there is rejected, and the error names the entry", async () => {
  const file = { path: "it/model.onnx", content: "weights" };
  const rows: [entry: TarEntry | readonly TarEntry[], message: RegExp][] = [
    [{ path: "../evil", content: "x" }, /"\.\.\/evil" has "\.\." in its path/],
    [{ path: "it/../../evil" }, /"it\/\.\.\/\.\.\/evil" has "\.\." in its path/],
    [{ path: "it/sub/..", type: "5" }, /has "\.\." in its path/],
    [{ path: "/etc/evil" }, /"\/etc\/evil" has an absolute path/],
    [{ path: "C:/evil" }, /has an absolute path/],
    [{ path: String.raw`it\evil` }, /a control character or a backslash/],
    [{ path: "it/e\nvil" }, /a control character or a backslash/],
    [{ path: `it/${"x".repeat(256)}` }, /a name longer than 255 bytes/],
    [{ path: `it${"/x".repeat(600)}` }, /is longer than 1024 bytes/],
    [
      { path: "it/link", type: "2", link: "/etc" },
      /"it\/link" is neither a file nor a folder \(type Symb/,
    ],
    [
      [{ path: "it/sub", type: "2", link: "/tmp" }, { path: "it/sub/tokens.txt" }],
      /"it\/sub" is neither a file nor a folder \(type SymbolicLink\)/,
    ],
    [{ path: "it/hard", type: "1", link: "it/model.onnx" }, /\(type Link\)/],
    [{ path: "it/model.onnx", type: "1", link: "/etc/passwd" }, /\(type Link\)/],
    [{ path: "it/zero", type: "3" }, /\(type CharacterDevice\)/],
    [{ path: "it/disk", type: "4" }, /\(type BlockDevice\)/],
    [{ path: "it/pipe", type: "6" }, /\(type FIFO\)/],
    [{ path: "it/odd", type: "Z" }, /\(type Unsupported\)/],
    [[file, { path: "it//./model.onnx", content: "other" }], /occurs twice/],
    [[{ path: "it/README.md" }, { path: "it/README.md" }], /occurs twice/],
    [{ path: "other/model.onnx" }, /is not in the folder it with which the archive begins/],
    [{ path: "it" }, /a file in place of the archive's folder/],
    [{ path: ".", content: "x" }, /"\." has no name/],
  ];
  for (const [odd, message] of rows) {
    const entries = [{ path: "it/", type: "5" }, odd].flat();
    await refused(entries, message);
    await refused(bzip2(tarBytes(entries)), message, { format: "tar.bz2" });
  }
});

test("an entry that is too large is rejected at its header", async () => {
  const files = [{ path: "model.onnx", bytes: 1000 }];
  const bomb = gzipSync(tarBytes([{ path: "it/model.onnx", content: Buffer.alloc(50_000_000) }]));
  assert.ok(bomb.length < 100_000);
  await refused(bomb, /has 50000000 bytes; 1000 are expected/, { files });
  const limits = { entriesMax: 5, bytesMax: 100_000 };
  await refused(bomb, /unpacks to more than 100000 bytes/, { limits });
  const big = { path: "it/big", content: "small", size: 200_000 };
  await refused([big], /"it\/big" makes it more than 100000 bytes/, { limits });
  await refused(
    Array.from({ length: 6 }, (_, at) => ({ path: `it/${at}` })),
    /more than 5 entries/,
    {
      limits,
    },
  );
  await refused(gzipSync(tarBytes([{ path: "it/a" }], Buffer.alloc(200_000))), /more than 100000/, {
    limits,
  });
  await refused(good, /has the checksum [0-9a-f]{64}; 00/, {
    files: [{ path: "model.onnx", sha256: "0".repeat(64) }],
  });
});

test("an archive that is truncated or corrupt anywhere is an error", async () => {
  const content = randomBytes(300_000);
  const tar = tarBytes([...good.slice(0, 1), { path: "it/model.onnx", content }]);
  const packed = { "tar.gz": gzipSync(tar), "tar.bz2": bzip2(tar) } as const;
  for (const format of ["tar.gz", "tar.bz2"] as const) {
    const whole = packed[format];
    for (const part of [0.01, 0.3, 0.6, 0.999]) {
      const cut = whole.subarray(0, Math.floor(whole.length * part));
      await refused(cut, /the archive is broken: /, { format });
      const garbled = Buffer.from(whole);
      garbled.fill(0x5a, cut.length, cut.length + 40);
      await refused(garbled, /the archive is (broken|rejected): /, { format });
    }
    await refused(Buffer.alloc(0), /the archive is broken: /, { format });
    await refused(Buffer.from("<html>not found</html>"), /the archive is broken: /, { format });
    await refused(randomBytes(10_000), /the archive is broken: /, { format });
  }
  for (const length of [0, 100, 511, 600, 1024, 100_000, 1024 + 300_000]) {
    await refused(gzipSync(tar.subarray(0, length)), /the archive is broken: /);
  }
  await refused(gzipSync(randomBytes(10_000)), /the archive is broken: /);
  await refused(gzipSync(gzipSync(tar)), /it is compressed twice/);
  await refused(gzipSync(tarBytes(good, Buffer.alloc(0))), /its end is missing/);
});

test("an archive whose own checksum is wrong is reported as broken", async () => {
  for (const [format, bytes] of [
    ["tar.gz", gzipSync(tarBytes(good))],
    ["tar.bz2", bzip2(tarBytes(good))],
  ] as const) {
    const at = bytes.length - (format === "tar.gz" ? 6 : 3);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
    await refused(bytes, /the archive is broken: (bzip2: |incorrect )/, { format });
  }
});

test("an abort signal stops the unpacking", async () => {
  const bytes = bzip2(tarBytes([{ path: "it/model.onnx", content: randomBytes(1_000_000) }]));
  const reason = new Error("enough");
  await assert.rejects(
    unpack(bytes, { format: "tar.bz2", signal: AbortSignal.abort(reason) }),
    reason,
  );
});
