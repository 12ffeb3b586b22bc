import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { wavHeader } from "../../src/std/wav.ts";

const sample = resolve(import.meta.dirname, "../../samples/en-US.wav");

/** Uploads a recording with the sample, `times` times in a row, and returns the name of its job. */
export async function submitSample(
  address: string,
  dataFolder: string,
  { times = 1 } = {},
): Promise<string> {
  const pcm = Buffer.concat(Array(times).fill(readFileSync(sample).subarray(44)));
  const header = wavHeader({ sampleRateHertz: 16_000, dataBytes: pcm.length });
  const upload: { storageSignedUrl: string; resourceName: string } = await call(
    address,
    dataFolder,
    "/v1alpha1/initupload",
    {},
  );
  const body = Buffer.concat([header, pcm]);
  const stored = await fetch(upload.storageSignedUrl, { method: "PUT", body });
  assert.equal(stored.status, 200, await stored.text());
  const job: Job = await call(address, dataFolder, "/v1alpha1/transcriptjob:submit", {
    metadata: { languageCode: "en-US", fileType: "AUDIO", subject: "Sample" },
    useUri: false,
    uri: upload.resourceName,
  });
  return job.name;
}

interface Job {
  readonly name: string;
  readonly state: string;
  readonly progressPercent?: number;
}

/** Returns a job as it is now. */
export async function jobOf(address: string, dataFolder: string, name: string): Promise<Job> {
  return await call(address, dataFolder, `/v1alpha1/${name}`);
}

/** Makes a call with the first key of a data folder. Fails unless it succeeds. */
async function call(address: string, dataFolder: string, path: string, message?: object) {
  const key = readFileSync(join(dataFolder, "api-key"), "utf8").trim();
  const response = await fetch(`${address}${path}`, {
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    ...(message !== undefined && { method: "POST", body: JSON.stringify(message) }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}
