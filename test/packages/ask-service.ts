import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "../fixtures/until.ts";

const sample = resolve(import.meta.dirname, "../../samples/en-US.wav");

/** Waits until the service is ready, and returns the kind of the sandbox that /readyz reports. */
export async function sandboxOf(address: string): Promise<string> {
  let text = "";
  // A service that has started may still load some of the processes of its models.
  await until(async () => {
    const response = await fetch(`${address}/readyz`);
    text = await response.text();
    return response.status === 200;
  }, 120_000);
  const health: { parts: { sandbox: { kind: string } } } = JSON.parse(text);
  return health.parts.sandbox.kind;
}

/** Recognizes a sample of English with the first key of a data folder; returns what was said. */
export async function recognizeSample(address: string, dataFolder: string): Promise<string> {
  const key = readFileSync(join(dataFolder, "api-key"), "utf8").trim();
  const response = await fetch(`${address}/v2beta1/speech:recognize`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" },
      audio: { content: readFileSync(sample).subarray(44).toString("base64") },
    }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { results }: { results: { alternatives: { transcript: string }[] }[] } = JSON.parse(text);
  const said = results[0]?.alternatives[0]?.transcript ?? "";
  assert.ok(said.length > 3, text);
  return said;
}

/** Returns the names of all transcripts of the account of the first key. */
export async function transcriptNames(address: string, dataFolder: string): Promise<string[]> {
  const key = readFileSync(join(dataFolder, "api-key"), "utf8").trim();
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${address}/v1alpha1/transcripts`, { headers });
  const page: { transcripts: { name: string }[] } = JSON.parse(await response.text());
  return page.transcripts.map(({ name }) => name).toSorted();
}
