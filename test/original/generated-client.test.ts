// A client that hey-api generates from /openapi.json uploads a recording and reads its transcript.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import type { Message } from "./original-client.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-generated-"));
let service: TestService;
/** The generated functions, by the ids of their operations. */
let sdk: Message;
let options: object;

before(async () => {
  service = await openTestService();
  const document = join(folder, "openapi.json");
  writeFileSync(document, await (await fetch(`${service.address}/openapi.json`)).text());
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const program = join(import.meta.dirname, "generate-client.mjs");
  await promisify(execFile)(process.execPath, [program, document, join(folder, "client")]);
  sdk = await import(join(folder, "client/index.ts"));
  const { createClient, createConfig } = await import(join(folder, "client/client/index.ts"));
  const client = createClient(createConfig({ baseUrl: service.address, auth: service.key }));
  options = { client, throwOnError: true };
});
after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("a generated client uploads a recording unchanged, and reads its transcript", async () => {
  const recording = speak("thank you very much for your letter");
  const { data: upload } = await sdk.initUpload({ ...options, body: { filename: "letter.wav" } });
  const signed = new URL(upload.storageSignedUrl);
  await sdk.putMedia({
    ...options,
    path: { upload: signed.pathname.split("/").at(-1) },
    query: Object.fromEntries(signed.searchParams),
    body: new Blob([Uint8Array.from(recording)]),
  });
  const { data: job } = await sdk.submitTranscriptJob({
    ...options,
    body: {
      metadata: { fileType: "AUDIO", languageCode: "en-US" },
      useUri: false,
      uri: upload.resourceName,
    },
  });
  const path = { transcriptjob: job.name.split("/")[1] };
  let ended: Message;
  await until(async () => {
    ({ data: ended } = await sdk.getTranscriptJob({ ...options, path }));
    return ended.state !== "PROCESSING";
  }, 60_000);
  assert.equal(ended.state, "SUCCESS", ended.error?.message);
  assert.equal(ended.transcriptMetadata.originalFilename, "letter.wav");
  const { data: transcript } = await sdk.getTranscript({
    ...options,
    path: { transcript: ended.transcript.split("/")[1] },
  });
  const words = transcript.segments.flatMap(({ words }: Message) => words);
  assert.match(words.map(({ word }: Message) => word).join(""), /letter/);
  const { pathname, searchParams } = new URL(transcript.uri);
  const { data: media } = await sdk.getMedia({
    ...options,
    path: { media: pathname.split("/").at(-1) },
    query: Object.fromEntries(searchParams),
  });
  assert.deepEqual(Buffer.from(await media.arrayBuffer()), recording);
});

test("a generated client gets the errors of the service", async () => {
  await assert.rejects(
    sdk.getTranscript({ ...options, path: { transcript: "x" } }),
    (error: Message) => error.code === 5 && error.error.status === "NOT_FOUND",
  );
});
