/**
 * The number of tokens that are kept of a frame, and the least log probability of those after the
 * first. For alignment, all lower ones are equal (align-words.ts, tokenCostMax).
 */
const tokensMax = 4;
const costMax = 5.1;
/** A log probability is stored in steps of this size, in one byte. */
export const costStep = 0.02;
/** A byte from here on is a run of 1 to 128 frames of nothing but blank. */
export const firstRun = 0x80;
const runMax = 0x100 - firstRun;
/** The number of tokens up to which one byte numbers a token; above it, two bytes do. */
export const narrowTokensMax = 256;

/**
 * Compacts the outputs of a CTC model for an utterance, frame by frame. A frame is the number of
 * its tokens, and for each token, the likeliest first, its number and its cost (the negative log
 * probability in steps). Frames of blank that follow one another are counted.
 */
export class OutputsWriter {
  readonly #tokenCount: number;
  readonly #blank: number;
  #bytes = new Uint8Array(1024);
  #used = 0;
  /** The number of frames of nothing but blank that are not written yet. */
  #run = 0;
  readonly #tokens = new Int32Array(tokensMax);
  readonly #logs = new Float64Array(tokensMax);

  constructor(tokenCount: number, blank: number) {
    this.#tokenCount = tokenCount;
    this.#blank = blank;
  }

  clear(): void {
    this.#used = 0;
    this.#run = 0;
  }

  /** Adds a frame: the log probabilities of all tokens, from `at` on. */
  add(logs: Float32Array, at: number): void {
    const count = this.#choose(logs, at);
    if (count === 1 && this.#tokens[0] === this.#blank && costOf(this.#logs[0]) === 0) {
      this.#run += 1;
      return;
    }
    this.#endRun();
    this.#write(count);
    for (let index = 0; index < count; index++) {
      const token = this.#tokens[index] ?? 0;
      if (this.#tokenCount > narrowTokensMax) this.#write(token >> 8);
      this.#write(token & 0xff);
      this.#write(costOf(this.#logs[index]));
    }
  }

  /** Returns the frames since clear(), in new memory. */
  take(): Uint8Array {
    this.#endRun();
    return this.#bytes.slice(0, this.#used);
  }

  /** Finds the likeliest tokens of a frame; returns their number, which is at least 1. */
  #choose(logs: Float32Array, from: number): number {
    let count = 0;
    for (let token = 0; token < this.#tokenCount; token++) {
      const log = logs[from + token] ?? -Infinity;
      if (count > 0 && log < -costMax && (this.#logs[0] ?? 0) >= log) continue;
      let at = Math.min(count, tokensMax - 1);
      if (count === tokensMax && (this.#logs[at] ?? 0) >= log) continue;
      for (; at > 0 && (this.#logs[at - 1] ?? 0) < log; at--) {
        this.#logs[at] = this.#logs[at - 1] ?? 0;
        this.#tokens[at] = this.#tokens[at - 1] ?? 0;
      }
      this.#logs[at] = log;
      this.#tokens[at] = token;
      count = Math.min(tokensMax, count + 1);
    }
    while (count > 1 && (this.#logs[count - 1] ?? 0) < -costMax) count -= 1;
    return count;
  }

  #endRun(): void {
    for (; this.#run > 0; this.#run -= Math.min(runMax, this.#run)) {
      this.#write(firstRun + Math.min(runMax, this.#run) - 1);
    }
  }

  #write(byte: number): void {
    if (this.#used === this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#used);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[this.#used++] = byte;
  }
}

function costOf(log: number | undefined): number {
  return Math.min(255, Math.round(-(log ?? 0) / costStep));
}
