import { setTimeout as delay } from "node:timers/promises";
import { callRest } from "../../test/spec/service.ts";

/** The service to call and its key. */
export interface Node {
  readonly address: string;
  readonly key: string;
}

/** The interval between polls. It is not shorter, because each poll costs the service time. */
const pollMs = 500;

/**
 * Waits for all engine processes, because the service already reports that it is ready when the
 * first process of a model is ready.
 */
export async function untilEnginesReady({ address }: Node): Promise<void> {
  for (;;) {
    const call = { method: "GET", path: "/readyz" };
    const { engines } = (await callRest(address, undefined, call)).json.parts;
    if (engines.ready === true && engines.running === engines.processes) return;
    await delay(pollMs);
  }
}

/** Submits media by its URL and returns the name of the job. */
export async function submitJob({ address, key }: Node, uri: string): Promise<string> {
  const body = { metadata: { languageCode: "en-US", fileType: "AUDIO" }, useUri: true, uri };
  const call = { method: "POST", path: "/v1alpha1/transcriptjob:submit", body };
  const { status, json } = await callRest(address, key, call);
  if (status !== 200) throw new Error(`a job was refused: ${JSON.stringify(json)}`);
  return json.name;
}

/** Returns the progress of a job in percent. Throws if the job has failed. */
export async function progressOf({ address, key }: Node, name: string): Promise<number> {
  const { json } = await callRest(address, key, { method: "GET", path: `/v1alpha1/${name}` });
  if (json.state === "SUCCESS") return 100;
  if (json.state !== "PROCESSING") throw new Error(`a job failed: ${JSON.stringify(json)}`);
  return json.progressPercent ?? 0;
}

/** Waits until a job has reached this percentage. 100 means that it has ended. */
export async function untilProgress(node: Node, name: string, percent = 100): Promise<void> {
  while ((await progressOf(node, name)) < percent) await delay(pollMs);
}

export async function cancelJob({ address, key }: Node, name: string): Promise<void> {
  const call = { method: "POST", path: `/v1alpha1/${name}:cancel`, body: {} };
  const { status, json } = await callRest(address, key, call);
  if (status !== 200) throw new Error(`a job was not cancelled: ${JSON.stringify(json)}`);
}
