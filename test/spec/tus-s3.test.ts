// §4.7: uploads that continue where they were interrupted, with media in an S3 bucket.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { Upload } from "tus-js-client";
import { openCuttingProxy } from "../fixtures/cutting-proxy.ts";
import { speak } from "../fixtures/flite.ts";
import { openTestBucket, type TestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3, type TestS3 } from "../fixtures/open-test-s3.ts";
import { base64, openTusService, part, type TusService } from "./tus-service.ts";

let s3: TestS3;
let bucket: TestBucket;
let tus: TusService;

before(async () => {
  s3 = await openTestS3();
  bucket = await openTestBucket(s3);
  tus = await openTusService({
    S3_BUCKET: bucket.settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    HLUST_ENGINE: "scripted",
    HLUST_ROLE: "api",
  });
});
after(async () => {
  await tus[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("media arrives in the bucket over a line that breaks, and belongs to its transcript", async () => {
  const resourceName = await tus.newTranscript();
  const bytes = Buffer.alloc(9_500_001, speak("media in several parts"));
  const metadata = { "upload-metadata": `resourceName ${base64(resourceName)}` };
  const url = await tus.create(bytes.length, metadata);
  using line = await openCuttingProxy(4_000_000);
  line.target = tus.service.address;
  await new Promise<void>((resolve, reject) => {
    new Upload(bytes, {
      uploadUrl: url.replace(tus.service.address, line.address),
      headers: { authorization: `Bearer ${tus.service.key}` },
      retryDelays: Array.from({ length: 50 }, () => 10),
      onSuccess: () => resolve(),
      onError: reject,
    }).start();
  });
  assert.ok(line.cuts >= 2, `${line.cuts} breaks`);
  const { json } = await tus.service.call("GET", `/v1alpha1/${resourceName}`);
  assert.equal(sha256(Buffer.from(await (await fetch(json.uri)).arrayBuffer())), sha256(bytes));
});

test("a deleted upload leaves nothing in the bucket", async () => {
  const before = await bucket.keys();
  const url = await tus.create(10_000_000);
  const { status } = await tus.send("PATCH", url, part(0), new Uint8Array(9_000_000));
  assert.equal(status, 204);
  assert.equal((await tus.send("DELETE", url)).status, 204);
  assert.deepEqual(await bucket.keys(), before);
  assert.equal((await tus.send("HEAD", url)).status, 404);
});
