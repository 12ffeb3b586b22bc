/** A connection that is pinged. */
export interface Living {
  beat(): void;
}

/**
 * The number of rounds into which the interval is split, so that connections opened together are
 * not pinged together.
 */
const roundsMax = 20;
const roundMsMin = 5;

/** Calls `beat` on each member every `everyMs`, with one timer for all members. */
export class Heartbeat {
  readonly #everyMs: number;
  readonly #rounds: readonly Set<Living>[];
  #members = 0;
  #next = 0;
  #now = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
    const count = Math.max(1, Math.min(roundsMax, Math.floor(everyMs / roundMsMin)));
    this.#rounds = Array.from({ length: count }, () => new Set());
  }

  /** Adds a member. Its first beat comes within `everyMs`. */
  add(member: Living): void {
    this.#rounds[this.#next++ % this.#rounds.length]?.add(member);
    this.#members += 1;
    this.#timer ??= setInterval(() => this.#beat(), this.#everyMs / this.#rounds.length);
  }

  remove(member: Living): void {
    if (!this.#rounds.some((round) => round.delete(member))) return;
    this.#members -= 1;
    if (this.#members > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    for (const member of this.#rounds[this.#now++ % this.#rounds.length] ?? []) member.beat();
  }
}
