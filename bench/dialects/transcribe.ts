import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startService, type ServiceProcess } from "../../test/fault/process.ts";
import { untilEnginesReady } from "../jobs/job-calls.ts";

/** Runs a benchmark on a service with its own data, which is deleted. */
export async function withService<T>(
  environment: Readonly<Record<string, string>>,
  run: (service: ServiceProcess) => Promise<T>,
): Promise<T> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using service = await startService(data, { HLUST_LOG: "error", ...environment });
    await untilEnginesReady(service);
    return await run(service);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Transcribes a recording by POST /v1/audio/transcriptions, and returns its text. */
export async function transcribe(
  { address, key }: Pick<ServiceProcess, "address" | "key">,
  file: Blob,
  language: string,
): Promise<string> {
  const form = new FormData();
  form.set("language", language);
  form.set("file", file, "recording");
  const headers = { authorization: `Bearer ${key}` };
  const path = "/v1/audio/transcriptions";
  const answer = await fetch(`${address}${path}`, { method: "POST", headers, body: form });
  if (answer.status !== 200) throw new Error(`refused: ${await answer.text()}`);
  const { text }: { text: string } = JSON.parse(await answer.text());
  return text;
}
