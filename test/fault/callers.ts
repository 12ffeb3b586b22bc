import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until, within } from "../fixtures/until.ts";
import { CallCounter, type FailedCall } from "./call-counter.ts";
import type { Chance } from "./chance.ts";
import { JobLedger } from "./job-ledger.ts";
import { LiveCaller } from "./live-caller.ts";
import { openDoor, type Protocol } from "./open-door.ts";
import { PatchCaller } from "./patch-caller.ts";
import { scriptedSamples } from "./scripted-recording.ts";

const unaryProtocols: readonly Protocol[] = ["grpc", "grpc-web/1.1", "connect/1.1"];
const liveProtocols: readonly Protocol[] = ["grpc", "grpc-web/2", "connect/2"];
/** The pause between two calls of one caller. */
const readPauseMs = 80;
const submitPauseMs = 400;
const recording = {
  name: "recording",
  bytes: wavOf(scriptedSamples([700, 2_300, 1_200], { pauseMs: 900 })),
};

export interface Proxy {
  readonly name: string;
  readonly address: string;
}

/**
 * Concurrent callers of every kind that change transcripts, read and speak through each proxy. One
 * caller, through the first proxy, submits jobs.
 */
export class Callers {
  readonly counter = new CallCounter();
  readonly lives: readonly LiveCaller[];
  readonly #proxies: readonly Proxy[];
  readonly #key: string;
  readonly #ledger: JobLedger;
  readonly #patchers: PatchCaller[] = [];

  constructor(
    target: { readonly proxies: readonly Proxy[]; readonly key: string },
    chance: Chance,
  ) {
    const { proxies, key } = target;
    this.#proxies = proxies;
    this.#key = key;
    const [first = assert.fail()] = proxies;
    this.#ledger = new JobLedger({ key, address: () => first.address }, chance);
    this.lives = proxies.flatMap(({ name, address: url }) => [
      new LiveCaller(
        `WebSocket, ${name}`,
        createHlustClient({ url, token: key }).speech,
        this.counter,
      ),
      ...liveProtocols.map((protocol) => {
        const speech = createClient(Speech, openDoor(protocol, url, key));
        return new LiveCaller(`stream of ${protocol}, ${name}`, speech, this.counter);
      }),
    ]);
  }

  /** The numbers of acknowledged writes and of streams that were handed over. */
  get counts(): { readonly jobs: number; readonly patches: number; readonly handedOver: number } {
    const sum = (counts: Iterable<number>) => [...counts].reduce((one, other) => one + other, 0);
    return {
      jobs: this.#ledger.jobs.length,
      patches: sum(this.#patchers.map(({ acknowledged }) => acknowledged.size)),
      handedOver: sum(this.counter.handedOver.values()),
    };
  }

  /**
   * Lets all callers make calls while `action` runs. Afterwards, every acknowledged write must
   * exist, and every spoken word must have been recognized.
   */
  async during(action: () => Promise<void>): Promise<void> {
    const name = await this.#makeTranscripts();
    const stop = new AbortController();
    const calling = [
      ...this.lives.map((live) => live.speak(stop.signal)),
      ...this.#patchers.map((patcher) => patcher.patch(stop.signal)),
      ...this.#proxies.flatMap((proxy) =>
        unaryProtocols.map((protocol) => this.#read({ protocol, proxy, name }, stop.signal)),
      ),
      this.#submit(stop.signal),
    ];
    try {
      await this.#ledger.during(action);
    } finally {
      stop.abort();
      await within("the end of all calls", Promise.all(calling), 60_000);
    }
    await this.#ledger.verify(() => false);
    for (const patcher of this.#patchers) await patcher.verify();
    const lost = this.lives.filter(({ lostMs }) => lostMs > 0);
    assert.deepEqual(
      lost.map(({ name, lostMs }) => `${name}: ${lostMs} ms`),
      [],
      "speech that was not recognized",
    );
  }

  /** Returns the failures since the previous call of this method. */
  takeFailures(): FailedCall[] {
    const refused = this.#ledger.refusals.splice(0);
    for (const refusal of refused) this.counter.failed("jobs", refusal);
    return this.counter.takeFailures();
  }

  /** Waits until each caller has received one more response. */
  async untilAnswered(): Promise<void> {
    const before = new Map(this.counter.answered);
    const isAnswered = () =>
      [...before].every(([caller, count]) => (this.counter.answered.get(caller) ?? 0) > count);
    await until(() => Promise.resolve(isAnswered()), 60_000);
  }

  /**
   * Creates transcripts through jobs, so that every transcript belongs to a job. Returns the name
   * of one transcript.
   */
  async #makeTranscripts(): Promise<string> {
    await this.#ledger.learn([recording]);
    let transcript = "";
    for (const { name, address } of this.#proxies) {
      const job = await this.#ledger.submit(recording);
      await this.#ledger.ended();
      ({ transcript } = await this.#ledger.get(job.name));
      const target = { address, key: this.#key, name: transcript };
      this.#patchers.push(new PatchCaller(`PATCH, ${name}`, target, this.counter));
    }
    return transcript;
  }

  async #read(
    call: { readonly protocol: Protocol; readonly proxy: Proxy; readonly name: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { protocol, proxy, name } = call;
    const caller = `${protocol}, ${proxy.name}`;
    this.counter.addCaller(caller);
    const client = createClient(Transcripts, openDoor(protocol, proxy.address, this.#key));
    while (!signal.aborted) {
      await client.getTranscript({ name }).then(
        () => this.counter.add("answered", caller),
        (error: unknown) => this.counter.failed(caller, error),
      );
      await delay(readPauseMs);
    }
  }

  async #submit(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ledger.submit(recording);
      await delay(submitPauseMs);
    }
  }
}
