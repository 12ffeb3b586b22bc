import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer, TestService } from "./service.ts";

/** Submits media by URL (§4.1), with more fields of the request. */
export function submit(
  service: TestService,
  uri: string,
  metadata: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return service.call("POST", "/v1alpha1/transcriptjob:submit", {
    metadata: { languageCode: "en-US", fileType: "AUDIO", ...metadata },
    useUri: true,
    uri,
    ...more,
  });
}

/** Polls a job until it has ended, and returns all responses. */
export async function pollJob(
  service: TestService,
  name: string,
  secondsMax = 60,
): Promise<{ last: Answer["json"]; seen: Answer["json"][] }> {
  const seen: Answer["json"][] = [];
  const deadline = Date.now() + secondsMax * 1000;
  for (;;) {
    const { status, json } = await service.call("GET", `/v1alpha1/${name}`);
    assert.equal(status, 200);
    seen.push(json);
    if (json.state !== "PROCESSING") return { last: json, seen };
    assert.ok(
      Date.now() < deadline,
      `still PROCESSING after ${secondsMax} s: ${JSON.stringify(json)}`,
    );
    await delay(100);
  }
}

/** Returns the answer to a watch that is refused. Fails at once if a stream opens. */
export async function refusedWatch(service: TestService, path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${service.key}` };
  const response = await fetch(service.address + path, { headers });
  if (response.ok) await response.body?.cancel();
  assert.equal(response.ok, false, path);
  return { status: response.status, headers: response.headers, json: await response.json() };
}

/** Returns the fields that an error names in BadRequest. */
export function fieldsOf({ json }: Answer): string[] {
  const bad = json.details.find((detail: { "@type": string }) =>
    detail["@type"].endsWith("BadRequest"),
  );
  return (bad?.fieldViolations ?? []).map(({ field }: { field: string }) => field).toSorted();
}

/** Returns the whole text of a transcript: every word of every segment, joined (§2.3). */
export function textOf(transcript: { segments: { words: { word: string }[] }[] }): string {
  return transcript.segments.flatMap(({ words }) => words.map(({ word }) => word)).join("");
}
