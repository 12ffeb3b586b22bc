import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until, within } from "../fixtures/until.ts";
import { callRest, type Answer } from "../spec/service.ts";
import { CallCounter } from "./call-counter.ts";
import { LiveCaller } from "./live-caller.ts";
import { scriptedSamples } from "./scripted-recording.ts";

const pauseMs = 50;
const recording = wavOf(scriptedSamples([700, 1_200], { pauseMs: 600 }));

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** What came of one attempt; without a status, the connection failed. */
type Attempt =
  | { readonly answer: Answer }
  | {
      readonly answer?: never;
      readonly status: number | undefined;
      readonly retryMs: number;
      readonly problem: string;
    };

/**
 * Clients of several nodes without a balancer. Each call goes to the next node in turn, and once
 * more to another node if the first did not accept it: the connection failed, or the answer was 503
 * (after its Retry-After).
 */
export class RetryingCallers {
  /** The calls that got the expected answer, in the end. */
  answered = 0;
  /** The calls whose first attempt failed and whose retry was answered. */
  retried = 0;
  /** The failures of calls that failed twice, or that were refused for another reason. */
  readonly failures: string[] = [];
  /** The streams of live audio, which continue on the next node. */
  readonly lives: readonly LiveCaller[];
  readonly #addresses: readonly string[];
  readonly #key: string;
  readonly #jobs: string[] = [];
  readonly #transcripts: string[] = [];
  #turn = 0;

  constructor(addresses: readonly string[], key: string, { lives = 2 } = {}) {
    this.#addresses = addresses;
    this.#key = key;
    const clients = addresses.map((url) => createHlustClient({ url, token: key }).speech);
    this.lives = Array.from({ length: lives }, (_, at) => {
      let turn = at;
      const [first = assert.fail("no node")] = clients;
      const next = () => clients[(turn += 1) % clients.length] ?? first;
      const speech: typeof first = {
        ...first,
        streamingRecognize: (...args) => next().streamingRecognize(...args),
      };
      return new LiveCaller(`stream ${at + 1}`, speech, new CallCounter());
    });
  }

  /** Lets clients call while `action` runs, and checks that all acknowledged writes are kept. */
  async during(action: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const calling = [
      ...this.lives.map((live) => live.speak(stop.signal)),
      ...[this.#create, this.#read, this.#submit].map(async (one) => {
        while (!stop.signal.aborted) {
          await one.call(this);
          await delay(pauseMs);
        }
      }),
    ];
    try {
      await action();
    } finally {
      stop.abort();
      await within("the end of all calls", Promise.all(calling), 60_000);
    }
    await this.#verify();
  }

  /** Waits until `count` more calls have been answered. */
  async untilAnswered(count: number): Promise<void> {
    const target = this.answered + count;
    await until(() => Promise.resolve(this.answered >= target), 60_000);
  }

  async #create(): Promise<void> {
    const metadata = { subject: `call ${this.#turn}`, fileType: "AUDIO", languageCode: "en-US" };
    const body = { metadata, segments: [] };
    const answer = await this.#call({ method: "POST", path: "/v1alpha1/transcripts", body });
    if (answer) this.#transcripts.push(answer.json.name);
  }

  async #read(): Promise<void> {
    const name = this.#transcripts.at(-1);
    await this.#call({ method: "GET", path: "/v1alpha1/transcripts?pageSize=5" });
    if (name !== undefined) await this.#call({ method: "GET", path: `/v1alpha1/${name}` });
  }

  async #submit(): Promise<void> {
    const uploaded = await this.#upload();
    if (uploaded === undefined) return;
    const body = {
      metadata: { languageCode: "en-US", fileType: "AUDIO" },
      useUri: false,
      uri: uploaded,
    };
    const headers = { "idempotency-key": `key-${this.#turn}` };
    const path = "/v1alpha1/transcriptjob:submit";
    const answer = await this.#call({ method: "POST", path, body, headers });
    if (answer) this.#jobs.push(answer.json.name);
    await delay(500);
  }

  /** Uploads the recording; a signed URL belongs to one node, so both calls are repeated. */
  async #upload(): Promise<string | undefined> {
    return await this.#once("upload", async (address) => {
      const call = { method: "POST", path: "/v1alpha1/initupload", body: {} };
      const answer = await callRest(address, this.#key, call);
      if (answer.status !== 200) return answer;
      const { storageSignedUrl, resourceName } = answer.json;
      const put = await fetch(storageSignedUrl, { method: "PUT", body: recording });
      const { status, headers } = put;
      const text = await put.text();
      return { status, headers, json: status === 200 ? resourceName : JSON.parse(text) };
    }).then((answer) => answer?.json);
  }

  async #call(call: Call): Promise<Answer | undefined> {
    return await this.#once(`${call.method} ${call.path}`, (address) =>
      callRest(address, this.#key, call),
    );
  }

  /** Makes a call, and repeats it once at the next node. */
  async #once(
    what: string,
    call: (address: string) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    this.#turn += 1;
    const turn = this.#turn;
    const first = await this.#attempt(turn, call);
    if (first.answer) {
      this.answered += 1;
      return first.answer;
    }
    if (first.status !== undefined && first.status !== 503) {
      this.failures.push(`${what}: ${first.problem}`);
      return undefined;
    }
    await delay(first.retryMs);
    const second = await this.#attempt(turn + 1, call);
    if (second.answer) {
      this.answered += 1;
      this.retried += 1;
      return second.answer;
    }
    this.failures.push(`${what}: ${first.problem}, then ${second.problem}`);
    return undefined;
  }

  async #attempt(turn: number, call: (address: string) => Promise<Answer>): Promise<Attempt> {
    const address = this.#addresses[turn % this.#addresses.length] ?? "";
    try {
      const answer = await call(address);
      if (answer.status === 200) return { answer };
      const { status, headers, json } = answer;
      const retryMs = Math.min(Number(headers.get("retry-after") ?? 1), 2) * 1_000;
      return { status, retryMs, problem: `${status} ${json.message}` };
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      return { status: undefined, retryMs: 0, problem: `${String(error)} (${String(cause)})` };
    }
  }

  async #verify(): Promise<void> {
    const stateOf = async (name: string): Promise<string> =>
      (await this.#call({ method: "GET", path: `/v1alpha1/${name}` }))?.json.state;
    for (const name of this.#jobs) {
      await until(async () => (await stateOf(name)) !== "PROCESSING", 60_000);
      assert.equal(await stateOf(name), "SUCCESS", name);
    }
    for (const name of this.#transcripts) {
      assert.ok(await this.#call({ method: "GET", path: `/v1alpha1/${name}` }), name);
    }
    const lost = this.lives.filter(({ lostMs }) => lostMs > 0);
    assert.deepEqual(
      lost.map(({ name, lostMs }) => `${name}: ${lostMs} ms`),
      [],
      "speech that was not recognized",
    );
  }
}
