import { setTimeout as sleep } from "node:timers/promises";
import { CallFailure, type HttpCaller } from "./http-caller.ts";
import { jsonField, jsonText } from "./json-field.ts";

/** Submits a job for media at a URL (§4.1); resolves to its name. Throws CallFailure. */
export async function submitJob(
  caller: HttpCaller,
  uri: string,
  languageCode: string,
): Promise<string> {
  const metadata = { languageCode, fileType: "AUDIO", subject: "hlust bench jobs" };
  const body = JSON.stringify({ metadata, useUri: true, uri });
  const name = jsonText(await caller.call("POST", "/v1alpha1/transcriptjob:submit", body), "name");
  if (name === "") throw new CallFailure("unreadable answer", "the job has no name");
  return name;
}

/**
 * Polls a job (§4.2) until it succeeds. Resolves to the length of its recording in seconds. Throws
 * CallFailure if the job ends in another state, or has not ended by `endsAt`, a time of
 * performance.now().
 */
export async function jobDone(
  caller: HttpCaller,
  name: string,
  { pollMs, endsAt }: { readonly pollMs: number; readonly endsAt: number },
): Promise<number> {
  for (;;) {
    await sleep(pollMs);
    const job = await caller.call("GET", `/v1alpha1/${name}`);
    const state = jsonText(job, "state");
    if (state === "SUCCESS") {
      const duration = jsonText(jsonField(job, "transcriptMetadata"), "recordingDuration");
      return Number(duration.replace(/s$/, ""));
    }
    if (state !== "PROCESSING") {
      const problem = jsonText(jsonField(job, "error"), "message");
      throw new CallFailure(`state ${state}`, problem || `${name} did not succeed`);
    }
    if (performance.now() > endsAt) throw new CallFailure("timeout", `${name} took too long`);
  }
}
