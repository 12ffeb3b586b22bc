import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { errorFields, type Log } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import type { ServiceError } from "../std/service-error.ts";
import { within } from "../std/within.ts";
import type { Caller } from "./caller.ts";
import {
  audioUsedUp,
  noLimits,
  tooManyRequests,
  tooManyStreams,
  type AccountLimits,
} from "./limits.ts";
import { UsageCounter } from "./usage-counter.ts";
import {
  forgetNode,
  forgetOldUsage,
  readUsage,
  writeUsage,
  type UsageWrite,
} from "./usage-store.ts";

export interface MeterParts {
  readonly db: Kysely<Tables>;
  /** The limits of accounts for which the operator has set no limits. */
  readonly accountLimits: AccountLimits;
  readonly log: Log;
  /**
   * How often nodes share their counts, and so how late a limit reacts to use on another node.
   * Default: 1 s.
   */
  readonly shareEveryMs?: number;
  /**
   * Counters that are not used for this long are dropped, and are loaded again at the next call.
   * Default: 10 s.
   */
  readonly idleMsMax?: number;
}

/** A caller whose use is counted. */
export type MeteredCaller = Pick<Caller, "accountId" | "keyId">;

/** An open live stream; it ends when it is disposed of. */
export interface MeteredStream extends Disposable {
  /**
   * Counts received audio. Returns the error with which to end the stream once the limit is
   * reached.
   */
  meterAudio(ms: number): ServiceError | undefined;
}

const shareEveryMsDefault = 1_000;
const idleMsMaxDefault = 10_000;
/**
 * How long a call waits for the stored use of its account. After that, only the use on this node
 * counts.
 */
const loadMsMax = 1_000;
const forgetEveryMs = 3_600_000;
/** How long disposal waits for the last write. */
const stopMsMax = 2_000;

/**
 * Opens a meter, which counts the use of accounts and keys and refuses calls above their limits.
 */
export function openMeter(parts: MeterParts): Meter {
  return new Meter(parts);
}

/**
 * Counts in memory, and shares the counts with the other nodes each second. A call sends no
 * statement while its caller is loaded. While the database is unavailable, only this node's own
 * counts apply.
 */
export class Meter implements AsyncDisposable {
  readonly #parts: MeterParts;
  readonly #nodeId = newId();
  readonly #counters = new Map<string, UsageCounter>();
  readonly #loading = new Map<string, Promise<void>>();
  /** The offset of the database's clock from the clock of this process. */
  #offsetMs = Date.now() - performance.now();
  #writes = 0;
  #openStreams = 0;
  /** A write whose commit was not confirmed. It is sent again with the same number. */
  #unacknowledged: UsageWrite | undefined;
  #forgotAt = 0;
  readonly #stop = new AbortController();
  #sharing: Promise<void> | undefined;

  constructor(parts: MeterParts) {
    this.#parts = parts;
    const { shareEveryMs: everyMs = shareEveryMsDefault, log } = parts;
    const { signal } = this.#stop;
    const event = "meter.not_shared";
    const options = { everyMs, firstAfterMs: everyMs, log, event, logsFirstOnly: true, signal };
    void repeat(options, async () => this.share());
  }

  /** The number of live streams that this node has open. */
  get openStreams(): number {
    return this.#openStreams;
  }

  /**
   * Counts a call, which may come from a page of the console. Throws TOO_MANY_REQUESTS above a
   * limit; refused calls do not count.
   */
  async countRequest(caller: MeteredCaller, isFromConsole = false): Promise<void> {
    const counters = this.#known(caller) ?? (await this.#loaded(caller));
    const now = this.#now();
    for (const counter of counters) {
      const waitMs = counter.requestWaitMs(now);
      if (waitMs === 0) continue;
      throw tooManyRequests(counter.of, counter.limits.requestsPerMinute, waitMs);
    }
    for (const counter of counters) counter.countRequest(now, isFromConsole);
  }

  /**
   * Throws TOO_MANY_STREAMS or AUDIO_LIMIT if openStream() would throw it. Called before a socket
   * is opened.
   */
  async checkStream(caller: MeteredCaller): Promise<void> {
    this.#checkStream(this.#known(caller) ?? (await this.#loaded(caller)));
  }

  /** Opens a live stream. Throws TOO_MANY_STREAMS or AUDIO_LIMIT. */
  async openStream(caller: MeteredCaller): Promise<MeteredStream> {
    const counters = this.#known(caller) ?? (await this.#loaded(caller));
    this.#checkStream(counters);
    for (const counter of counters) counter.countStream(1);
    this.#openStreams += 1;
    let isOpen = true;
    return {
      meterAudio: (ms) => {
        const now = this.#now();
        for (const counter of counters) counter.countAudio("live", ms, now);
        return usedUp(counters, now);
      },
      [Symbol.dispose]: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#openStreams -= 1;
        for (const counter of counters) counter.countStream(-1);
      },
    };
  }

  /** Checks whether more audio may be recognized today. Throws AUDIO_LIMIT if not. */
  async checkAudio(caller: MeteredCaller): Promise<void> {
    const counters = this.#known(caller) ?? (await this.#loaded(caller));
    const problem = usedUp(counters, this.#now());
    if (problem) throw problem;
  }

  /**
   * Counts the audio of a short recognition while the recognition runs, and subtracts it again if
   * the recognition fails. Throws AUDIO_LIMIT.
   */
  async recognizeShort(
    caller: MeteredCaller,
    ms: number,
    recognize: () => Promise<void>,
  ): Promise<void> {
    const counters = this.#known(caller) ?? (await this.#loaded(caller));
    const problem = usedUp(counters, this.#now());
    if (problem) throw problem;
    for (const counter of counters) counter.countAudio("short", ms, this.#now());
    try {
      await recognize();
    } catch (error) {
      // The counters may have been written and dropped in the meantime.
      const current = this.#known(caller) ?? (await this.#loaded(caller));
      for (const counter of current) counter.countAudio("short", -ms, this.#now());
      throw error;
    }
  }

  /** Returns the limits of a caller: those of the account and those of the key. */
  async limitsOf(
    caller: MeteredCaller,
  ): Promise<{ readonly account: AccountLimits; readonly key: AccountLimits }> {
    const [account, key] = this.#known(caller) ?? (await this.#loaded(caller));
    return { account: account?.limits ?? noLimits, key: key?.limits ?? noLimits };
  }

  /** Returns the current use of an account, as far as the meter counts it. */
  async useOf(
    accountId: string,
  ): Promise<{ readonly requests: number; readonly streams: number; readonly audioMs: number }> {
    const caller = { accountId, keyId: undefined };
    const [account] = this.#known(caller) ?? (await this.#loaded(caller));
    const now = this.#now();
    return {
      requests: account?.requests(now) ?? 0,
      streams: account?.streams ?? 0,
      audioMs: account?.audioMs(now) ?? 0,
    };
  }

  /**
   * Writes new counts and reads those of the other nodes. After a failure, the next call repeats
   * both.
   */
  async share(): Promise<void> {
    this.#sharing ??= this.#exchange().finally(() => {
      this.#sharing = undefined;
    });
    await this.#sharing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const { db } = this.#parts;
    const leave = async (): Promise<void> => {
      await this.share();
      // Writes the counts that arrived during the previous write.
      await this.share();
      if (this.#writes > 0) await forgetNode(db, this.#nodeId);
    };
    await within(stopMsMax, leave()).catch((error: unknown) => {
      this.#parts.log.warn(errorFields(error), "meter.not_written");
    });
  }

  #now(): number {
    return performance.now() + this.#offsetMs;
  }

  #checkStream(counters: readonly UsageCounter[]): void {
    const full = counters.find((counter) => !counter.hasStreamLeft);
    if (full) throw tooManyStreams(full.of, full.limits.concurrentStreams);
    const problem = usedUp(counters, this.#now());
    if (problem) throw problem;
  }

  async #loaded(caller: MeteredCaller): Promise<readonly UsageCounter[]> {
    const name = `${caller.accountId} ${caller.keyId}`;
    const loading =
      this.#loading.get(name) ?? this.#load(caller).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    await loading;
    return this.#known(caller) ?? [];
  }

  /** Returns the account's counter, followed by the key's. */
  #known({ accountId, keyId }: MeteredCaller): readonly UsageCounter[] | undefined {
    const account = this.#counters.get(accountId);
    if (!account) return undefined;
    const now = performance.now();
    account.usedAt = now;
    if (keyId === undefined) return [account];
    const key = this.#counters.get(keyId);
    if (!key) return undefined;
    key.usedAt = now;
    return [account, key];
  }

  async #load({ accountId, keyId }: MeteredCaller): Promise<void> {
    const unknown = [
      new UsageCounter(accountId, accountId, this.#parts.accountLimits),
      ...(keyId === undefined ? [] : [new UsageCounter(keyId, accountId, noLimits)]),
    ].filter(({ id }) => !this.#counters.has(id));
    try {
      await within(loadMsMax, this.#read(unknown));
    } catch (error) {
      this.#parts.log.debug(errorFields(error), "meter.not_loaded");
    }
    // Another call may have loaded the account in the meantime.
    for (const counter of unknown)
      if (!this.#counters.has(counter.id)) this.#counters.set(counter.id, counter);
  }

  async #exchange(): Promise<void> {
    const { db } = this.#parts;
    this.#unacknowledged ??= this.#take();
    if (this.#unacknowledged) await writeUsage(db, this.#unacknowledged);
    this.#unacknowledged = undefined;
    this.#forgetIdle();
    const counters = [...this.#counters.values()];
    if (counters.length > 0) await this.#read(counters);
    if (performance.now() - this.#forgotAt < forgetEveryMs && this.#forgotAt > 0) return;
    await forgetOldUsage(db);
    this.#forgotAt = performance.now();
  }

  #take(): UsageWrite | undefined {
    const now = this.#now();
    const rows = [...this.#counters.values()].flatMap((counter) => counter.take(now) ?? []);
    if (rows.length === 0) return undefined;
    this.#writes += 1;
    return { nodeId: this.#nodeId, number: this.#writes, rows };
  }

  async #read(counters: readonly UsageCounter[]): Promise<void> {
    const options = { nodeId: this.#nodeId, accountLimits: this.#parts.accountLimits };
    const { now, known } = await readUsage(this.#parts.db, counters, options);
    if (known.size > 0) this.#offsetMs = now - performance.now();
    for (const counter of counters) {
      const use = known.get(counter.id);
      if (use) counter.update(use);
    }
  }

  #forgetIdle(): void {
    const { idleMsMax = idleMsMaxDefault } = this.#parts;
    const since = performance.now() - idleMsMax;
    for (const [id, counter] of this.#counters) {
      if (counter.usedAt <= since && counter.isIdle) this.#counters.delete(id);
    }
  }
}

/** Returns the error for a caller that has no audio left for today. */
function usedUp(counters: readonly UsageCounter[], now: number): ServiceError | undefined {
  for (const counter of counters) {
    const waitMs = counter.audioWaitMs(now);
    if (waitMs > 0) return audioUsedUp(counter.of, counter.limits.audioSecondsPerDay, waitMs);
  }
  return undefined;
}
