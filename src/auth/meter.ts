import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { errorFields, type Log } from "../std/log.ts";
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
import { Tally } from "./tally.ts";
import {
  forgetNode,
  forgetOldUsage,
  readUsage,
  writeUsage,
  type UsageWrite,
} from "./usage-store.ts";

export interface MeterParts {
  readonly db: Kysely<Tables>;
  /** Of accounts for which the operator has set none. */
  readonly accountLimits: AccountLimits;
  readonly log: Log;
  /**
   * How often nodes tell each other what they have counted: so late is a limit held against what
   * another node does. Default 1 s.
   */
  readonly shareEveryMs?: number;
  /**
   * Whoever was not seen for this long is forgotten, and looked up when they come again. Default 10
   * s.
   */
  readonly rememberMs?: number;
}

/** Whose use is counted. */
export type Metered = Pick<Caller, "accountId" | "keyId">;

/** A live stream that is open; it ends when it is disposed of. */
export interface MeteredStream extends Disposable {
  /**
   * Counts audio that came. What the caller is to be told when that was the last that they may have
   * recognized.
   */
  hear(ms: number): ServiceError | undefined;
}

const shareEveryMsDefault = 1_000;
const rememberMsDefault = 10_000;
/**
 * How long a call waits for what is known of its account; then only what this node counts is held
 * against it.
 */
const learnMsMax = 1_000;
const forgetEveryMs = 3_600_000;
/** How long a stop waits for the last write. */
const stopMsMax = 2_000;

/** Counts what accounts and keys use, and refuses what is past their limits. */
export function openMeter(parts: MeterParts): Meter {
  return new Meter(parts);
}

/**
 * Counts in memory, and shares the counts with the other nodes each second; a call costs no
 * statement while its caller is known. While the database is away this node's own counts hold.
 */
export class Meter implements AsyncDisposable {
  readonly #parts: MeterParts;
  readonly #nodeId = newId();
  readonly #tallies = new Map<string, Tally>();
  readonly #learning = new Map<string, Promise<void>>();
  /** Of the database's clock, before this process's. */
  #offsetMs = Date.now() - performance.now();
  #writes = 0;
  /** Was sent, and perhaps not heard. */
  #sent: UsageWrite | undefined;
  #isAway = false;
  #forgotAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #sharing: Promise<void> | undefined;

  constructor(parts: MeterParts) {
    this.#parts = parts;
    this.#schedule();
  }

  /** Counts a call. Throws TOO_MANY_REQUESTS past a limit: what is refused does not count. */
  async countRequest(caller: Metered): Promise<void> {
    const tallies = this.#known(caller) ?? (await this.#learnt(caller));
    const now = this.#now();
    for (const tally of tallies) {
      const waitMs = tally.requestWaitMs(now);
      if (waitMs === 0) continue;
      throw tooManyRequests(tally.of, tally.limits.requestsPerMinute, waitMs);
    }
    for (const tally of tallies) tally.countRequest(now);
  }

  /**
   * Throws TOO_MANY_STREAMS or AUDIO_LIMIT where openStream() would: before a socket is opened for
   * it.
   */
  async checkStream(caller: Metered): Promise<void> {
    this.#checkStream(this.#known(caller) ?? (await this.#learnt(caller)));
  }

  /** Opens a live stream. Throws TOO_MANY_STREAMS or AUDIO_LIMIT. */
  async openStream(caller: Metered): Promise<MeteredStream> {
    const tallies = this.#known(caller) ?? (await this.#learnt(caller));
    this.#checkStream(tallies);
    for (const tally of tallies) tally.countStream(1);
    let isOpen = true;
    return {
      hear: (ms) => {
        const now = this.#now();
        for (const tally of tallies) tally.countAudio("live", ms, now);
        return usedUp(tallies, now);
      },
      [Symbol.dispose]() {
        if (isOpen) for (const tally of tallies) tally.countStream(-1);
        isOpen = false;
      },
    };
  }

  /** Throws AUDIO_LIMIT where no more audio may be recognized today. */
  async checkAudio(caller: Metered): Promise<void> {
    const tallies = this.#known(caller) ?? (await this.#learnt(caller));
    const problem = usedUp(tallies, this.#now());
    if (problem) throw problem;
  }

  /**
   * Counts the audio of a short recognition while it runs: what fails is taken back. Throws
   * AUDIO_LIMIT.
   */
  async recognizeShort(caller: Metered, ms: number, recognize: () => Promise<void>): Promise<void> {
    const tallies = this.#known(caller) ?? (await this.#learnt(caller));
    const problem = usedUp(tallies, this.#now());
    if (problem) throw problem;
    for (const tally of tallies) tally.countAudio("short", ms, this.#now());
    try {
      await recognize();
    } catch (error) {
      // It was counted, written and perhaps forgotten by now.
      const those = this.#known(caller) ?? (await this.#learnt(caller));
      for (const tally of those) tally.countAudio("short", -ms, this.#now());
      throw error;
    }
  }

  /** The limits that hold for a caller: of the account, and of the key. */
  async limitsOf(
    caller: Metered,
  ): Promise<{ readonly account: AccountLimits; readonly key: AccountLimits }> {
    const [account, key] = this.#known(caller) ?? (await this.#learnt(caller));
    return { account: account?.limits ?? noLimits, key: key?.limits ?? noLimits };
  }

  /** What an account uses, of what is counted here. */
  async useOf(
    accountId: string,
  ): Promise<{ readonly requests: number; readonly streams: number; readonly audioMs: number }> {
    const caller = { accountId, keyId: undefined };
    const [account] = this.#known(caller) ?? (await this.#learnt(caller));
    const now = this.#now();
    return {
      requests: account?.requests(now) ?? 0,
      streams: account?.streams ?? 0,
      audioMs: account?.audioMs(now) ?? 0,
    };
  }

  /**
   * Writes what was counted and looks what others have; what fails is tried again with the next.
   */
  async share(): Promise<void> {
    this.#sharing ??= this.#exchange().finally(() => {
      this.#sharing = undefined;
    });
    await this.#sharing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { db } = this.#parts;
    const leave = async (): Promise<void> => {
      await this.share();
      // What came while that was under way.
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

  #checkStream(tallies: readonly Tally[]): void {
    const full = tallies.find((tally) => !tally.hasStreamLeft);
    if (full) throw tooManyStreams(full.of, full.limits.concurrentStreams);
    const problem = usedUp(tallies, this.#now());
    if (problem) throw problem;
  }

  async #learnt(caller: Metered): Promise<readonly Tally[]> {
    const name = `${caller.accountId} ${caller.keyId}`;
    const learning =
      this.#learning.get(name) ?? this.#learn(caller).finally(() => this.#learning.delete(name));
    this.#learning.set(name, learning);
    await learning;
    return this.#known(caller) ?? [];
  }

  /** The account's first, then the key's. */
  #known({ accountId, keyId }: Metered): readonly Tally[] | undefined {
    const account = this.#tallies.get(accountId);
    if (!account) return undefined;
    const now = performance.now();
    account.usedAt = now;
    if (keyId === undefined) return [account];
    const key = this.#tallies.get(keyId);
    if (!key) return undefined;
    key.usedAt = now;
    return [account, key];
  }

  async #learn({ accountId, keyId }: Metered): Promise<void> {
    const unknown = [
      new Tally(accountId, accountId, this.#parts.accountLimits),
      ...(keyId === undefined ? [] : [new Tally(keyId, accountId, noLimits)]),
    ].filter(({ id }) => !this.#tallies.has(id));
    try {
      await within(learnMsMax, this.#read(unknown));
    } catch (error) {
      this.#parts.log.debug(errorFields(error), "meter.not_learnt");
    }
    // Another call may have come to know the account meanwhile.
    for (const tally of unknown)
      if (!this.#tallies.has(tally.id)) this.#tallies.set(tally.id, tally);
  }

  async #exchange(): Promise<void> {
    const { db } = this.#parts;
    this.#sent ??= this.#take();
    if (this.#sent) await writeUsage(db, this.#sent);
    this.#sent = undefined;
    this.#forgetIdle();
    const tallies = [...this.#tallies.values()];
    if (tallies.length > 0) await this.#read(tallies);
    if (performance.now() - this.#forgotAt < forgetEveryMs && this.#forgotAt > 0) return;
    await forgetOldUsage(db);
    this.#forgotAt = performance.now();
  }

  #take(): UsageWrite | undefined {
    const now = this.#now();
    const rows = [...this.#tallies.values()].flatMap((tally) => tally.take(now) ?? []);
    if (rows.length === 0) return undefined;
    this.#writes += 1;
    return { nodeId: this.#nodeId, number: this.#writes, rows };
  }

  async #read(tallies: readonly Tally[]): Promise<void> {
    const options = { nodeId: this.#nodeId, accountLimits: this.#parts.accountLimits };
    const { now, known } = await readUsage(this.#parts.db, tallies, options);
    if (known.size > 0) this.#offsetMs = now - performance.now();
    for (const tally of tallies) {
      const use = known.get(tally.id);
      if (use) tally.learn(use);
    }
  }

  #forgetIdle(): void {
    const { rememberMs = rememberMsDefault } = this.#parts;
    const since = performance.now() - rememberMs;
    for (const [id, tally] of this.#tallies) {
      if (tally.usedAt <= since && tally.isIdle) this.#tallies.delete(id);
    }
  }

  #schedule(): void {
    const { shareEveryMs = shareEveryMsDefault } = this.#parts;
    this.#timer = setTimeout(() => {
      void this.share()
        .then(
          () => {
            this.#isAway = false;
          },
          (error: unknown) => {
            if (!this.#isAway) this.#parts.log.warn(errorFields(error), "meter.not_shared");
            this.#isAway = true;
          },
        )
        .finally(() => {
          if (this.#timer) this.#schedule();
        });
    }, shareEveryMs);
    this.#timer.unref();
  }
}

/** What the caller is told when there is no audio left for today. */
function usedUp(tallies: readonly Tally[], now: number): ServiceError | undefined {
  for (const tally of tallies) {
    const waitMs = tally.audioWaitMs(now);
    if (waitMs > 0) return audioUsedUp(tally.of, tally.limits.audioSecondsPerDay, waitMs);
  }
  return undefined;
}
