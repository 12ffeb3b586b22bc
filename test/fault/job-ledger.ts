import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { callRest, type Answer } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import type { Chance } from "./chance.ts";

/** A recording for jobs. */
export interface Recording {
  readonly name: string;
  /** The URL from which jobs fetch the recording; undefined if the recording is uploaded. */
  readonly uri?: string;
  readonly bytes: Buffer;
}

/** A job that the service has acknowledged. */
export interface LedgerJob {
  readonly name: string;
  readonly recording: Recording;
  readonly key: string;
  readonly body: object;
  isCancelled: boolean;
}

type Json = Answer["json"];
type Call = (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>;

/**
 * The time limit for all jobs to end: leases expire after 10 s, expired leases are found within 4
 * s, and the last attempt at a job runs alone.
 */
const endMsMax = 180_000;
const pollMs = 250;

/**
 * Submits jobs during faults, and checks their results: an acknowledged job persists, a reused key
 * names the same job, progress never decreases, and each job ends once, with the transcript of an
 * undisturbed run.
 */
export class JobLedger {
  /**
   * Whether the database clock is being moved. PostgreSQL measures statements by this clock: a
   * statement that is running while the clock is moved appears to take an hour, and is cancelled.
   */
  isDatabaseClockMoved = false;
  readonly jobs: LedgerJob[] = [];
  /** The errors of calls that were in flight during a fault. */
  readonly refusals: unknown[] = [];
  readonly #call: Call;
  readonly #chance: Chance;
  /** The segments of an undisturbed run, by the recording's name. */
  readonly #expected = new Map<string, Json>();
  /** The last known state of each job. */
  readonly #seen = new Map<string, Json>();
  /**
   * The check in progress. Only one runs at a time, since otherwise an older response could follow
   * a newer one.
   */
  #looking: Promise<string[]> | undefined;

  /** `address` is called for each call, and returns the address of a node that accepts calls. */
  constructor(target: { readonly key: string; readonly address: () => string }, chance: Chance) {
    this.#chance = chance;
    this.#call = async (method, path, body, idempotencyKey) => {
      const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
      return await callRest(target.address(), target.key, { method, path, body, headers });
    };
  }

  /** Records the result of each recording in a run without faults. */
  async learn(recordings: readonly Recording[]): Promise<void> {
    for (const recording of recordings) await this.submit(recording);
    await this.ended();
    for (const { name, recording } of this.jobs) {
      const { state, transcript, error } = this.#seen.get(name);
      assert.equal(state, "SUCCESS", JSON.stringify(error));
      this.#expected.set(recording.name, (await this.get(transcript)).segments);
    }
  }

  /** Submits a recording, and repeats the call with the same key until it is acknowledged. */
  async submit(recording: Recording): Promise<LedgerJob> {
    const { uri } = recording;
    const body = {
      metadata: { languageCode: "en-US", fileType: "AUDIO", subject: recording.name },
      useUri: uri !== undefined,
      uri: uri ?? (await this.#upload(recording.bytes)),
    };
    const key = `key-${this.jobs.length}-${this.#chance.below(1e9)}`;
    const { name } = await this.#untilAnswered("POST", submitPath, body, key);
    const job = { name, recording, key, body, isCancelled: false };
    this.jobs.push(job);
    return job;
  }

  /**
   * Submits some of the jobs again, which must return the same jobs. A different request with the
   * key of one of the jobs is refused.
   */
  async submitAgain(count = 2): Promise<void> {
    for (let again = 0; again < count; again += 1) {
      const { name, body, key } = this.#chance.oneOf(this.jobs);
      assert.equal((await this.#untilAnswered("POST", submitPath, body, key)).name, name);
      const other = { ...body, uri: "https://example.com/other.wav", useUri: true };
      const { status } = await this.#answered("POST", submitPath, other, key);
      assert.equal(status, 409);
    }
  }

  async cancel(job: LedgerJob): Promise<void> {
    job.isCancelled = true;
    await this.#untilAnswered("POST", `/v1alpha1/${job.name}:cancel`, {});
  }

  async get(name: string): Promise<Json> {
    return await this.#untilAnswered("GET", `/v1alpha1/${name}`);
  }

  /**
   * Checks all jobs continuously while `action` runs. The signal aborts as soon as a job is wrong.
   */
  async during(action: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const watching = this.#watch(stop.signal).finally(() => {
      stop.abort();
    });
    // The caller that awaits this promise gets the error at the end.
    watching.catch(() => {});
    try {
      await action(stop.signal);
    } finally {
      stop.abort();
      await watching;
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        if (error instanceof assert.AssertionError) throw error;
        this.refusals.push(error);
      });
      await delay(pollMs, undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Returns the unfinished jobs, after checking that each job is consistent with its last known
   * state.
   */
  async look(): Promise<string[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return await this.#looking;
  }

  async #look(): Promise<string[]> {
    const jobs = await this.#list("transcriptjob", "jobs");
    for (const job of jobs) {
      const before = this.#seen.get(job.name);
      if (before) assertFollows(job, before);
      this.#seen.set(job.name, job);
    }
    return jobs.filter(({ state }) => state === "PROCESSING").map(({ name }) => name);
  }

  /** Waits until all jobs have ended. */
  async ended(): Promise<void> {
    await until(async () => (await this.look()).length === 0, endMsMax).catch((error: unknown) => {
      const open = [...this.#seen.values()].filter(({ state }) => state === "PROCESSING");
      throw new Error(`still open: ${JSON.stringify(open)}`, { cause: error });
    });
  }

  /**
   * Asserts that every submitted job has ended once, with the same result as without faults, and
   * that there are no other jobs or transcripts. `mayFail` returns whether it is right that a job
   * ended as ERROR with that message.
   */
  async verify(
    mayFail: (job: LedgerJob, message: string) => Promise<boolean> | boolean,
  ): Promise<void> {
    await this.ended();
    const transcripts: string[] = [];
    for (const job of this.jobs) {
      const { state, transcript, error, progressPercent } = this.#seen.get(job.name);
      if (job.isCancelled) {
        assert.equal(error.code, 1, `${job.name} was cancelled`);
        continue;
      }
      if (state === "ERROR") {
        assert.ok(await mayFail(job, error.message), `${job.name}: ${error.message}`);
        continue;
      }
      assert.equal(progressPercent, 100);
      const { segments } = await this.get(transcript);
      assert.deepEqual(segments, this.#expected.get(job.recording.name), job.recording.name);
      transcripts.push(transcript);
    }
    const kept = await this.#list("transcripts", "transcripts");
    const names = sorted(kept.map(({ name }) => name));
    assert.deepEqual(names, sorted(transcripts), "one transcript for each job");
    const known = new Set(this.jobs.map(({ name }) => name));
    const others = [...this.#seen.keys()].filter((name) => !known.has(name));
    assert.deepEqual(others, [], "jobs that were never acknowledged");
  }

  async #upload(bytes: Buffer): Promise<string> {
    for (;;) {
      const path = "/v1alpha1/initupload";
      const { storageSignedUrl, resourceName } = await this.#untilAnswered("POST", path, {});
      const put = await putMedia(storageSignedUrl, bytes).catch((error: unknown) => error);
      if (put === undefined) return resourceName;
      this.refusals.push(put);
      await delay(pollMs);
    }
  }

  async #list(path: string, field: string): Promise<Json[]> {
    const all: Json[] = [];
    for (let token = ""; ;) {
      const page = `/v1alpha1/${path}?pageSize=1000&pageToken=${encodeURIComponent(token)}`;
      const answer = await this.#call("GET", page);
      const { status, json } = answer;
      if (status !== 200) throw new Error(`${path} answers ${status}`, { cause: answer });
      all.push(...json[field]);
      token = json.nextPageToken;
      if (token === "") return all;
    }
  }

  #isOfFault({ status, json }: Answer): boolean {
    if (status === 503) return true;
    return this.isDatabaseClockMoved && json.details?.[0]?.reason === "DATABASE_TIMEOUT";
  }

  /** Repeats a call until the response does not report a fault, and returns that response. */
  async #answered(...call: Parameters<Call>): Promise<Answer> {
    for (;;) {
      const answer = await this.#call(...call).catch((error: unknown) => ({ error }));
      if (!("error" in answer) && !this.#isOfFault(answer)) return answer;
      this.refusals.push("error" in answer ? answer.error : answer);
      await delay(pollMs);
    }
  }

  async #untilAnswered(...call: Parameters<Call>): Promise<Json> {
    const { status, json } = await this.#answered(...call);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  }
}

/** Uploads bytes; returns the response if its status is not 200. */
async function putMedia(url: string, bytes: Buffer): Promise<Answer | undefined> {
  const response = await fetch(url, { method: "PUT", body: bytes });
  const { status, headers } = response;
  const text = await response.text();
  return status === 200 ? undefined : { status, headers, json: JSON.parse(text) };
}

function sorted(names: readonly string[]): string[] {
  return names.toSorted((a, b) => (a < b ? -1 : 1));
}

const submitPath = "/v1alpha1/transcriptjob:submit";

function assertFollows(job: Json, before: Json): void {
  if (before.state !== "PROCESSING") {
    assert.deepEqual(job, before, "an ended job does not change");
    return;
  }
  const [was, is] = [before.progressPercent, job.progressPercent];
  assert.ok(was <= is && is <= 100, `${job.name}: progress from ${was} to ${is}`);
  assert.ok(job.state !== "PROCESSING" || is < 100);
  const [earlier, later] = [before, job].map(({ lastUpdatedTime }) => Date.parse(lastUpdatedTime));
  assert.ok((earlier ?? 0) <= (later ?? 0), `${job.name}: lastUpdatedTime decreased`);
}
