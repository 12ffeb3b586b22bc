import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  hiddenNames,
  modelArchive,
  onlyModel,
  serveDownloads,
  sha256Of,
  testCard,
  writeModel,
} from "../../test/fixtures/model-fixture.ts";
import {
  archive,
  PullFixture,
  refusedPull,
  weights,
  type Sent,
} from "../../test/fixtures/pull-fixture.ts";
import { tarBytes } from "../../test/fixtures/tar-bytes.ts";
import { pullModel, type PullProgress } from "./pull-model.ts";

test("a model is downloaded, checked, unpacked, verified and installed, with progress", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  await using server = await serveDownloads(fixture.serving(archive, sent));
  const reported: PullProgress[] = [];
  const verified: string[] = [];
  await fixture.pull(
    `${server.url}/it.tar.bz2`,
    { bytes: archive.length, sha256: sha256Of(archive) },
    {
      onProgress: (progress) => reported.push(progress),
      verify: (folder) => {
        assert.ok(readFileSync(join(folder, "model.json"), "utf8").includes(sha256Of(weights)));
        verified.push(folder);
        return Promise.resolve();
      },
    },
  );
  await fixture.assertInstalled();
  assert.equal(sent.bytes, archive.length);
  assert.equal(verified.length, 1);
  const phases = reported.map(({ phase }) => phase);
  assert.deepEqual([...new Set(phases)], ["download", "check", "unpack", "verify", "install"]);
  for (const { totalBytes, name } of reported) {
    assert.deepEqual([totalBytes, name], [archive.length, "it"]);
  }
  assert.equal(reported.at(-1)?.receivedBytes, archive.length);
});

test("a model may consist of both files and archives", async () => {
  using fixture = new PullFixture();
  await using server = await serveDownloads((request, response) => {
    response.end(request.url === "/it" ? archive : "extra");
  });
  const files = { model: { path: "model.onnx" }, extra: { path: "deep/extra.bin", bytes: 5 } };
  await pullModel(
    {
      card: testCard("it", { files }),
      downloads: [
        { url: `${server.url}/it`, unpack: "tar.bz2" },
        { url: `${server.url}/extra`, to: "deep/extra.bin" },
      ],
    },
    { modelsFolder: fixture.modelsFolder },
  );
  const { folder } = await onlyModel(fixture.modelsFolder);
  assert.equal(readFileSync(join(folder, "deep/extra.bin"), "utf8"), "extra");
});

test("a wrong checksum or length is an error with both values, and the part is deleted", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  await using server = await serveDownloads(fixture.serving(archive, sent));
  const wrong = "0".repeat(64);
  const both = new RegExp(
    `has the checksum ${sha256Of(archive)}, but the catalogue says ${wrong}: the download`,
  );
  await refusedPull(fixture.pull(server.url, { sha256: wrong }), "data_loss", both);
  assert.deepEqual(hiddenNames(fixture.modelsFolder).downloads, ["it"]);
  const { length } = archive;
  for (const bytes of [length - 1, length + 1]) {
    const sizes = new RegExp(`the file has ${length} bytes; the catalogue says ${bytes}`);
    await refusedPull(fixture.pull(server.url, { bytes }), "data_loss", sizes);
  }
  assert.equal(sent.ranges.length, 3, "no second attempt");
  fixture.assertNothingInstalled();
});

test("without a published checksum, the checksum of the first download is used", async () => {
  using fixture = new PullFixture();
  let served = archive;
  await using server = await serveDownloads((_request, response) => response.end(served));
  await fixture.pull(server.url);
  assert.deepEqual(
    JSON.parse(readFileSync(join(fixture.modelsFolder, ".checksums.json"), "utf8")),
    {
      [server.url]: sha256Of(archive),
    },
  );
  served = modelArchive("other weights");
  const message = new RegExp(
    `has the checksum ${sha256Of(served)}, but the first download says \\w+`,
  );
  await refusedPull(fixture.pull(server.url), "data_loss", message);
  await onlyModel(fixture.modelsFolder);
  writeFileSync(join(fixture.modelsFolder, ".checksums.json"), '{"x": 1}');
  await refusedPull(
    fixture.pull(server.url),
    "failed_precondition",
    /is not a valid checksum file/,
  );
});

test("an archive without the model installs nothing, and leaves the installed version in place", async () => {
  using fixture = new PullFixture();
  await using good = await serveDownloads((_request, response) => response.end(archive));
  await fixture.pull(good.url);
  const rows: [bytes: Buffer, message: RegExp][] = [
    [Buffer.from("not an archive"), /the archive is broken/],
    [archive.subarray(0, 100_000), /the archive is broken/],
    [modelArchive(weights).subarray(0, 0), /the archive is broken|does not say/],
  ];
  for (const [bytes, message] of rows) {
    await using server = await serveDownloads((_request, response) => response.end(bytes));
    await refusedPull(fixture.pull(server.url), "data_loss", message);
    await onlyModel(fixture.modelsFolder);
  }
  const gz = tarBytes([{ path: "it/model.onnx", content: "w" }]);
  await using server = await serveDownloads((_request, response) => response.end(gz));
  await refusedPull(
    fixture.pull(server.url, { unpack: "tar.gz" }),
    "data_loss",
    /the archive is broken/,
  );
  const { folder } = await onlyModel(fixture.modelsFolder);
  assert.ok(readFileSync(join(folder, "model.onnx")).equals(weights));
});

test("the error for a model file that is missing from every download names the file", async () => {
  using fixture = new PullFixture();
  await using server = await serveDownloads((_request, response) => response.end(archive));
  const files = { model: { path: "model.onnx" }, joiner: { path: "joiner.onnx" } };
  const downloads = [{ url: server.url, unpack: "tar.bz2" as const }];
  const pulled = pullModel(
    { card: testCard("it", { files }), downloads },
    { modelsFolder: fixture.modelsFolder },
  );
  await refusedPull(
    pulled,
    "data_loss",
    /the model's joiner, joiner\.onnx, is not in the downloads/,
  );
  fixture.assertNothingInstalled();
});

test("a model that fails verification is not installed", async () => {
  using fixture = new PullFixture();
  await using server = await serveDownloads((_request, response) => response.end(archive));
  const failure = new Error("recognizes nothing");
  await assert.rejects(
    fixture.pull(server.url, {}, { verify: () => Promise.reject(failure) }),
    failure,
  );
  fixture.assertNothingInstalled();
  await fixture.pull(server.url);
  await fixture.assertInstalled();
});

test("a download that fails verification is requested again, and its checksum is not recorded", async () => {
  using fixture = new PullFixture();
  const failure = new Error("recognizes nothing");
  const verify = (): Promise<void> => Promise.reject(failure);
  let served = modelArchive("spoilt");
  await using server = await serveDownloads((_request, response) => response.end(served));
  await assert.rejects(fixture.pull(server.url, {}, { verify }), failure);
  served = Buffer.from("no archive");
  await refusedPull(fixture.pull(server.url), "data_loss", /the archive is broken/);
  served = archive;
  await fixture.pull(server.url);
  await fixture.assertInstalled();
});

test("a download with a published checksum is not requested again after a failure", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  await using server = await serveDownloads(fixture.serving(archive, sent));
  const published = { sha256: sha256Of(archive) };
  const failure = new Error("recognizes nothing");
  const verify = (): Promise<void> => Promise.reject(failure);
  await assert.rejects(fixture.pull(server.url, published, { verify }), failure);
  await fixture.pull(server.url, published);
  await fixture.assertInstalled();
  assert.equal(sent.bytes, archive.length);
});

test("without enough disk space, nothing is requested or nothing is written", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  await using server = await serveDownloads(fixture.serving(archive, sent));
  const freeBytes = (): Promise<number> => Promise.resolve(300 << 20);
  const bytes = 100 << 20;
  const message = /there is not enough disk space in .*: 373\.3 MB are needed, 314\.6 MB are free/;
  await refusedPull(
    fixture.pull(server.url, { bytes }, { freeBytes }),
    "resource_exhausted",
    message,
  );
  assert.equal(sent.ranges.length, 0);
  const free = [1e12, 256 << 20];
  const late = (): Promise<number> => Promise.resolve(free.shift() ?? 0);
  await refusedPull(
    fixture.pull(server.url, {}, { freeBytes: late }),
    "resource_exhausted",
    /not enough disk space/,
  );
  assert.deepEqual(
    hiddenNames(fixture.modelsFolder).downloads.filter((name) => name.endsWith(".part")).length,
    1,
  );
  fixture.assertNothingInstalled();
});

test("the second of two concurrent pulls of the same model fails, and the first continues", async () => {
  using fixture = new PullFixture();
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
  await using server = await serveDownloads((_request, response) => {
    asked();
    void isAllowed.then(() => response.end(archive));
  });
  const first = fixture.pull(server.url);
  await isAsked;
  await refusedPull(
    fixture.pull(server.url),
    "aborted",
    /another command is changing the model it/,
  );
  allow();
  await first;
  await fixture.assertInstalled();
});

test("an aborted pull leaves nothing behind, and a folder created by hand stays", async () => {
  using fixture = new PullFixture();
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  await using server = await serveDownloads((_request, response) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write("beginning");
    asked();
  });
  const off = new AbortController();
  const pulled = fixture.pull(server.url, {}, { signal: off.signal });
  await isAsked;
  const reason = new Error("enough");
  off.abort(reason);
  await assert.rejects(pulled, reason);
  fixture.assertNothingInstalled();
  mkdirSync(join(fixture.modelsFolder, "it"));
  writeModel(join(fixture.modelsFolder, "it"), testCard("it"));
  await refusedPull(fixture.pull(server.url), "failed_precondition", /was installed by hand/);
});
