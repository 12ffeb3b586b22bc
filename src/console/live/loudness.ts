import { loudnessOf } from "./level.ts";

/** The user is warned after this much silence: people pause, but no room is completely quiet. */
const silentSecondsMin = 5;

/** How loud the captured audio is, and whether it has been silent for long. */
export class Loudness {
  readonly #listeners = new Set<(loudness: number) => void>();
  /** The last position in the recording, in seconds, that was not silent. */
  #loudUntil = 0;

  /** Calls the listener with the loudness, 0 to 1, of each captured chunk. */
  readonly subscribe = (listener: (loudness: number) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Starts at a position of the recording, in seconds, as if it had not been silent there. */
  startAt(seconds: number): void {
    this.#loudUntil = seconds;
  }

  /**
   * Measures a chunk that ends at a position of the recording, in seconds. Returns whether the user
   * is warned of a long silence.
   */
  measure(samples: Int16Array, seconds: number): boolean {
    const loudness = loudnessOf(samples);
    for (const listener of this.#listeners) listener(loudness);
    if (loudness > 0) this.#loudUntil = seconds;
    return seconds - this.#loudUntil >= silentSecondsMin;
  }
}
