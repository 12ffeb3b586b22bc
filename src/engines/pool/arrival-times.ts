/**
 * The time between two entries, in milliseconds of audio. Chunks are often shorter, and every chunk
 * of every stream passes through here.
 */
const entryMs = 40;
/** Entries for longer than the longest utterance: older ones are forgotten. */
const entriesMax = 1_200;
/** A read that takes longer than this had to wait for the client. */
const waitedMsMin = 2;

/**
 * When the audio of a live stream arrived. Audio is read no faster than it is processed, so that
 * the time of reading hides a backlog. Since a read last had to wait for the client, audio is
 * assumed to have come in real time, unless it was read earlier than that.
 */
export class ArrivalTimes {
  readonly #now: () => number;
  /** The end of the audio of each entry, and when that audio arrived. */
  readonly #endMs: number[] = [];
  readonly #atMs: number[] = [];
  #audioMs = 0;
  #askedMs = 0;
  /** When the last audio arrived. */
  #lastMs = 0;
  /** The audio and the time at which the last read had waited. */
  #caughtUp: { readonly audioMs: number; readonly atMs: number } | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that the next audio is asked for. */
  waits(): void {
    this.#askedMs = this.#now();
  }

  /** Notes that audio was read. */
  arrived(ms: number): void {
    const now = this.#now();
    this.#audioMs += ms;
    const hasWaited = now - this.#askedMs >= waitedMsMin;
    if (hasWaited || !this.#caughtUp) this.#caughtUp = { audioMs: this.#audioMs, atMs: now };
    const { audioMs, atMs } = this.#caughtUp;
    this.#lastMs = Math.min(now, atMs + (this.#audioMs - audioMs));
    const last = this.#endMs.at(-1) ?? -Infinity;
    if (this.#audioMs - last < entryMs) return;
    this.#endMs.push(this.#audioMs);
    this.#atMs.push(this.#lastMs);
    if (this.#endMs.length > entriesMax) this.#forget(entriesMax / 2);
  }

  /**
   * Returns the milliseconds since the audio up to `audioEndMs` arrived. Forgets earlier audio.
   */
  sinceArrivalMs(audioEndMs: number): number {
    const index = this.#endMs.findIndex((endMs) => endMs >= audioEndMs);
    const atMs = this.#atMs[index] ?? this.#lastMs;
    if (index > 0) this.#forget(index);
    return Math.max(0, this.#now() - atMs);
  }

  #forget(count: number): void {
    this.#endMs.splice(0, count);
    this.#atMs.splice(0, count);
  }
}
