// §4.7: tus-js-client uploads to the service, over good and bad lines.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { DefaultHttpStack, Upload, type UploadOptions } from "tus-js-client";
import { openCuttingProxy } from "../fixtures/cutting-proxy.ts";
import { speak } from "../fixtures/flite.ts";
import { pollJob } from "./jobs.ts";
import { openTusService, part } from "./tus-service.ts";

const tus = await openTusService({ HLUST_ENGINE: "scripted", HLUST_UPLOAD_BYTES_MAX: "5000000" });
after(() => tus[Symbol.asyncDispose]());
const { service, endpoint, send, create, newTranscript } = tus;
const wav = speak("this recording arrives in several parts");

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Uploads bytes with tus-js-client. Resolves to the URL of the upload. */
function uploadByClient(bytes: Buffer, options: UploadOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const upload = new Upload(bytes, {
    endpoint,
    headers: { authorization: `Bearer ${service.key}` },
    ...options,
    onSuccess: () => resolve(upload.url ?? ""),
    onError: reject,
  });
  upload.start();
  return promise;
}

test("tus-js-client uploads media for a job, whose transcript names the file", async () => {
  const url = await uploadByClient(wav, {
    chunkSize: 20_000,
    metadata: { filename: "Þórður á fundi.wav", filetype: "audio/wav" },
  });
  assert.ok(url.startsWith(`${service.address}/v1alpha1/uploads/`));
  const uri = `uploads/${url.split("/").at(-1)}`;
  const submitted = await service.call("POST", "/v1alpha1/transcriptjob:submit", {
    metadata: { fileType: "AUDIO", languageCode: "is-IS", subject: "Í bútum" },
    useUri: false,
    uri,
  });
  assert.equal(submitted.status, 200, JSON.stringify(submitted.json));
  const { last: job } = await pollJob(service, submitted.json.name);
  assert.equal(job.state, "SUCCESS");
  const { json } = await service.call("GET", `/v1alpha1/${job.transcript}`);
  assert.equal(json.metadata.originalFilename, "Þórður á fundi.wav");
  assert.equal(sha256(Buffer.from(await (await fetch(json.uri)).arrayBuffer())), sha256(wav));
});

test("tus-js-client uploads the media of a transcript over a line that breaks every 400 kB", async () => {
  const name = await newTranscript();
  const bytes = Buffer.alloc(4_000_000, wav);
  const stack = new DefaultHttpStack({});
  let retries = 0;
  using line = await openCuttingProxy(400_000);
  line.target = service.address;
  const url = await uploadByClient(bytes, {
    endpoint: `${line.address}/v1alpha1/uploads`,
    metadata: { filename: "talk.wav", resourceName: name },
    retryDelays: Array.from({ length: 50 }, () => 10),
    httpStack: {
      getName: () => stack.getName(),
      // Location has the address of the service, which does not lead over the line.
      createRequest: (method, url) =>
        stack.createRequest(method, url.replace(service.address, line.address)),
    },
    onShouldRetry: () => (retries += 1) > 0,
  });
  // A connection carries a tenth of the media.
  assert.ok(line.cuts >= 9, `${line.cuts} breaks`);
  assert.ok(retries >= 9, `${retries} retries`);
  const { json } = await service.call("GET", `/v1alpha1/${name}`);
  assert.equal(sha256(Buffer.from(await (await fetch(json.uri)).arrayBuffer())), sha256(bytes));
  const head = await send("HEAD", url);
  assert.equal(head.headers.get("upload-offset"), `${bytes.length}`);
  assert.equal(head.headers.get("upload-expires"), null);
});

test("tus-js-client ends an upload, whose URL then does not exist", async () => {
  const bytes = Buffer.alloc(2_000_000, 1);
  const first = Promise.withResolvers<void>();
  const upload = new Upload(bytes, {
    endpoint,
    headers: { authorization: `Bearer ${service.key}` },
    chunkSize: 100_000,
    onChunkComplete: () => first.resolve(),
    onError: first.reject,
  });
  upload.start();
  await first.promise;
  await upload.abort(true);
  assert.equal((await send("HEAD", upload.url ?? "")).status, 404);
});

test("an upload that tus-js-client stopped is continued from its URL by another client", async () => {
  const bytes = Buffer.alloc(1_000_000, wav);
  const url = await create(bytes.length);
  assert.equal((await send("PATCH", url, part(0), bytes.subarray(0, 300_000))).status, 204);
  let first = -1;
  const progress = (sent: number): void => void (first = first < 0 ? sent : first);
  assert.equal(await uploadByClient(bytes, { uploadUrl: url, onProgress: progress }), url);
  assert.ok(first >= 300_000, `began at ${first}`);
});
