// A service whose database and media belong to different archives does not start, and changes
// nothing (B1 of the operator's trial).
import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { newId } from "../../src/std/ids.ts";
import { openTestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3, type TestS3 } from "../fixtures/open-test-s3.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { callRest } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";
import { openFakeClock } from "./fake-clock.ts";
import { openCluster } from "./cluster.ts";
import { startService, type ServiceProcess } from "./process.ts";

const scripted = { HLUST_ENGINE: "scripted", HLUST_ROLE: "api" };
const hourMs = 3_600_000;
let folder: string;
/** The data folder of an archive whose media is old enough for every sweep. */
let archive: string;
let s3: TestS3;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-wrong-"));
  archive = join(folder, "archive");
  s3 = await openTestS3();
  await using service = await startService(archive, scripted);
  for (let count = 0; count < 2; count += 1) await addMedia(service);
  const twoHoursAgo = new Date(Date.now() - 2 * hourMs);
  for (const file of mediaOf(archive)) utimesSync(file, twoHoursAgo, twoHoursAgo);
});
after(async () => {
  await s3[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function addMedia({ address, key }: ServiceProcess): Promise<void> {
  const call = async (method: string, path: string, body: object) =>
    (await callRest(address, key, { method, path, body })).json;
  const { name } = await call("POST", "/v1alpha1/transcripts", draftOf("Kept"));
  const { storageSignedUrl } = await call("POST", "/v1alpha1/initupload", { resourceName: name });
  const put = await fetch(storageSignedUrl, { method: "PUT", body: "any bytes" });
  assert.equal(put.status, 200, await put.text());
}

function mediaOf(dataFolder: string): string[] {
  const finished = join(dataFolder, "media/finished");
  return readdirSync(finished, { recursive: true, encoding: "utf8" })
    .filter((name) => name.includes("/"))
    .map((name) => join(finished, name));
}

/** Creates a data folder with only a copy of the archive's media. */
function copyOfMedia(name: string): string {
  const copy = join(folder, name);
  mkdirSync(copy);
  cpSync(join(archive, "media"), join(copy, "media"), {
    recursive: true,
    preserveTimestamps: true,
  });
  return copy;
}

/** Asserts that the start is refused with these words. */
async function refuses(
  dataFolder: string,
  environment: Readonly<Record<string, string>>,
  ...words: readonly RegExp[]
): Promise<void> {
  const starting = startService(dataFolder, { ...scripted, ...environment });
  starting.then((service) => service[Symbol.asyncDispose]()).catch(() => {});
  const problem = await starting.then(
    () => assert.fail("it started"),
    (error: unknown) => String(error),
  );
  for (const word of words) assert.match(problem, word);
}

test("(a) an empty database with the media of an archive is refused, and no file is deleted", async () => {
  const copy = copyOfMedia("empty-database");
  await refuses(copy, {}, /another archive/, /DATABASE_URL/, /HLUST_DATA/);
  assert.equal(mediaOf(copy).length, 2);
});

test("(a) media from before archives had marks is also refused", async () => {
  const copy = copyOfMedia("unmarked");
  rmSync(join(copy, "media/hlust-archive"), { force: true });
  await refuses(copy, {}, /database .* is new/, /2 /, /DATABASE_URL/);
  assert.equal(mediaOf(copy).length, 2);

  // The operator can override the refusal.
  const hlust = async (...args: string[]) => await runHlust(args, { HLUST_DATA: copy });
  const fsck = await hlust("fsck", "--repair");
  assert.deepEqual([fsck.code, fsck.out], [2, ""]);
  assert.match(fsck.errors, /database .* is new/);
  const shown = await hlust("archive", "show");
  assert.equal(shown.code, 1);
  assert.match(shown.out, /^No service has started yet\n(.*\n)+.*is new.*`hlust archive adopt`/);
  const adopted = await hlust("archive", "adopt");
  assert.deepEqual([adopted.code, adopted.errors], [0, ""]);
  assert.equal((await hlust("archive", "show")).code, 0);
  assert.equal((await hlust("archive", "adopt", "everything")).code, 2);
});

test("(b) a misspelled DATABASE_URI stops the start before anything is created", async () => {
  const copy = copyOfMedia("misspelt");
  await refuses(copy, { DATABASE_URI: "postgres://db/hlust" }, /DATABASE_URI .*DATABASE_URL/);
  assert.equal(mediaOf(copy).length, 2);
});

test("(c) an empty database with the bucket of another service is refused, and no object is deleted", async () => {
  const { settings, keys } = await openTestBucket(s3);
  const inBucket = {
    S3_BUCKET: settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  {
    await using first = await startService(join(folder, "bucket-1"), {
      ...scripted,
      ...inBucket,
      HLUST_S3_PRESIGN: "false",
    });
    await addMedia(first);
  }
  const kept = await keys();
  const clock = openFakeClock(join(folder, "clock"));
  clock.move(2 * 3600);
  const later = { ...inBucket, ...clock.environment };
  await refuses(join(folder, "bucket-2"), later, /another archive/, /S3_BUCKET/, /S3_PREFIX/);
  assert.deepEqual(await keys(), kept);
});

test("(c) an empty database with a non-empty bucket without a mark is refused", async () => {
  const { settings, keys } = await openTestBucket(s3);
  const Key = `media/${newId()}`;
  await s3.client.send(new PutObjectCommand({ Bucket: settings.bucket, Key, Body: "bytes" }));
  const clock = openFakeClock(join(folder, "clock"));
  clock.move(2 * 3600);
  const environment = {
    S3_BUCKET: settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    ...clock.environment,
  };
  await refuses(join(folder, "bucket-3"), environment, /is new/, /S3_BUCKET/);
  assert.deepEqual(await keys(), [Key]);
});

test("a node whose media folder differs from that of the other nodes does not start", async () => {
  await using cluster = await openCluster({});
  const [api, apart] = [cluster.addNode("api"), cluster.addNode("worker")];
  rmSync(join(apart.dataFolder, "media"));
  await api.start();
  await assert.rejects(
    apart.start(),
    /has no file hlust-archive.*one folder that they share, or S3_BUCKET/s,
  );
  // This is the same folder under another path.
  rmSync(join(apart.dataFolder, "media"), { recursive: true });
  symlinkSync(join(api.dataFolder, "media"), join(apart.dataFolder, "media"));
  await apart.start();
  const { address } = apart.service;
  const { json } = await callRest(address, undefined, { method: "GET", path: "/readyz" });
  assert.deepEqual(json.parts.media, { ready: true });
});
