import assert from "node:assert/strict";
import { scriptedOrders } from "../../src/engines/scripted/scripted-engine.ts";
import { joined, noise, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import type { Answer, TestService } from "./service.ts";
import { segmentOf } from "./transcripts.ts";

/** Two seconds of silence, three of speech and one of silence. */
export const speech = wavOf(joined(silence(2_000), noise(3_000, 9_000), silence(1_000)));
/** Sound that the scripted engine takes seconds to align. */
export const slow = wavOf(new Int16Array(8 * 16_000).fill(scriptedOrders.toil));

/** The text of `unaligned`. */
export const text = "Góðan dag,  kæru hlustendur!\n";
/** A transcript whose times are wrong. */
export const unaligned = {
  metadata: { fileType: "AUDIO", languageCode: "is-IS", subject: "Samstilling" },
  segments: [
    { ...segmentOf("Góðan dag,  "), speakerId: "1" },
    { startTime: "1.200s", endTime: "1.300s", words: [], speakerId: "3" },
    { ...segmentOf("kæru hlustendur!\n", 40), speakerId: "2" },
  ],
};

const endStates: ReadonlySet<string> = new Set(["SUCCESS", "ERROR", "CANCELLED"]);

/** The calls of a client that aligns transcripts. */
export class AlignmentCalls {
  readonly #service: Pick<TestService, "call">;

  constructor(service: Pick<TestService, "call">) {
    this.#service = service;
  }

  /** Creates a transcript, with media if there is any, and returns its name. */
  async create(media?: Buffer, transcript: object = unaligned): Promise<string> {
    const { json, status } = await this.#service.call("POST", "/v1alpha1/transcripts", transcript);
    assert.equal(status, 200, JSON.stringify(json));
    const { name } = json;
    if (media) await this.upload(name, media);
    return name;
  }

  /** Uploads the media of a transcript, which replaces any that it has. */
  async upload(transcript: string, media: Buffer): Promise<void> {
    const request = { resourceName: transcript };
    const begun = await this.#service.call("POST", "/v1alpha1/initupload", request);
    const answer = await fetch(begun.json.storageSignedUrl, { method: "PUT", body: media });
    assert.equal(answer.status, 200);
  }

  async submit(transcript: string): Promise<Answer> {
    return await this.#service.call("POST", "/v1alpha1/alignmentjobs:submit", { transcript });
  }

  /** Submits a transcript, and returns the name of the job. */
  async begin(transcript: string): Promise<string> {
    const { status, json } = await this.submit(transcript);
    assert.equal(status, 200, JSON.stringify(json));
    return json.name;
  }

  async get(name: string): Promise<Answer["json"]> {
    const { status, json } = await this.#service.call("GET", `/v1alpha1/${name}`);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  }

  async cancel(name: string): Promise<Answer> {
    return await this.#service.call("POST", `/v1alpha1/${name}:cancel`, {});
  }

  /** Waits for the end of a job, and returns the job. */
  async ended(name: string): Promise<Answer["json"]> {
    await until(async () => endStates.has((await this.get(name)).state), 120_000);
    return await this.get(name);
  }

  async reaches(name: string, state: string): Promise<void> {
    await until(async () => (await this.get(name)).state === state, 30_000);
  }
}
