import { addAlignments, Prefix, type Stamp } from "./prefix.ts";
import type { TokenTable } from "./token-table.ts";
import type { WordScorer } from "./word-scorer.ts";

/**
 * The margin in log probability by which a considered token may be below the best of its frame.
 */
const tokenMargin = 8;
/** The maximum number of tokens of a frame that are considered. */
const tokensMax = 48;
/** The number of bins in which tokens are counted by likelihood, to find the likeliest ones. */
const binCount = 128;
/** The margin by which a prefix may be worse than the best before it is dropped. */
const scoreMargin = 18;

/**
 * A prefix beam search over the outputs of a CTC model. It sums up all alignments of a text, keeps
 * the best texts, and keeps the likeliest alignment of each. The cost of a frame does not depend on
 * the length of the utterance.
 */
export class CtcBeam {
  readonly #table: TokenTable;
  readonly #scorer: WordScorer;
  readonly #width: number;
  #beam: Prefix[] = [];
  /** The beam after the current frame. */
  #next: Prefix[] = [];
  /** The tokens of the current frame that are considered, and their log probabilities. */
  readonly #tokens: number[] = [];
  readonly #logs: number[] = [];
  readonly #bins = new Uint32Array(binCount + 1);
  #frame = 0;

  constructor(table: TokenTable, scorer: WordScorer, width: number) {
    this.#table = table;
    this.#scorer = scorer;
    this.#width = width;
    this.clear();
  }

  /** Begins another utterance. */
  clear(): void {
    const root = new Prefix(undefined, -1, this.#scorer.start);
    root.blank.total = 0;
    root.blank.best = 0;
    root.score = 0;
    root.isInBeam = true;
    this.#beam = [root];
    this.#frame = 0;
  }

  /** The number of frames searched. */
  get frames(): number {
    return this.#frame;
  }

  /** The hypotheses, best first. */
  get prefixes(): readonly Prefix[] {
    return this.#beam;
  }

  /**
   * Searches a frame. `logs` contains the log probabilities of all tokens, starting at `at`. Throws
   * an Error if they are not probabilities.
   */
  step(logs: Float32Array, at: number): void {
    const blankLog = logs[at + this.#table.blank] ?? 0;
    this.#chooseTokens(logs, at);
    this.#next.length = 0;
    for (const prefix of this.#beam) this.#stay(prefix, logs, at);
    // Each prefix in the beam scores at least this in the next beam, so new prefixes that score
    // less are pruned.
    const last = this.#beam.length < this.#width ? undefined : this.#beam.at(-1);
    const scoreMin = (last?.score ?? Number.NEGATIVE_INFINITY) + blankLog;
    for (const prefix of this.#beam) this.#extend(prefix, scoreMin);
    this.#prune();
    this.#frame += 1;
  }

  #chooseTokens(logs: Float32Array, at: number): void {
    const { tokens, blank } = this.#table;
    this.#tokens.length = 0;
    this.#logs.length = 0;
    let best = Number.NEGATIVE_INFINITY;
    for (let index = at; index < at + tokens.length; index++) {
      const log = logs[index] ?? 0;
      if (log > best) best = log;
    }
    if (!Number.isFinite(best)) throw new Error("the model's outputs are not probabilities");
    const blankLog = logs[at + blank] ?? 0;
    const least = best - tokenMargin;
    // The blank may leave too little probability for all other tokens combined.
    if (blankLog === best && Math.log(-Math.expm1(Math.min(best, 0))) < least) return;
    for (let token = 0; token < tokens.length; token++) {
      const log = logs[at + token] ?? 0;
      if (log <= least || token === blank || !tokens[token]) continue;
      this.#tokens.push(token);
      this.#logs.push(log);
    }
    if (this.#tokens.length > tokensMax) this.#keepLikeliest(best);
  }

  /**
   * Keeps the likeliest tokens if there are too many. It counts them in bins, because sorting
   * thousands of tokens would take longer than everything else.
   */
  #keepLikeliest(best: number): void {
    const binOf = (log: number) => Math.floor(((best - log) * binCount) / tokenMargin);
    const bins = this.#bins.fill(0);
    for (const log of this.#logs) bins[binOf(log)] = (bins[binOf(log)] ?? 0) + 1;
    let last = 0;
    for (let sum = bins[0] ?? 0; last < binCount; sum += bins[last] ?? 0) {
      if (sum > tokensMax) break;
      last += 1;
    }
    let kept = 0;
    for (let index = 0; index < this.#tokens.length && kept < tokensMax; index++) {
      const log = this.#logs[index] ?? 0;
      // If the best bin by itself has too many tokens, any of them will do.
      if (binOf(log) >= Math.max(1, last)) continue;
      this.#tokens[kept] = this.#tokens[index] ?? 0;
      this.#logs[kept] = log;
      kept += 1;
    }
    this.#tokens.length = kept;
    this.#logs.length = kept;
  }

  /**
   * Extends alignments without changing the text: a blank follows, or the last token continues.
   */
  #stay(prefix: Prefix, logs: Float32Array, at: number): void {
    this.#touch(prefix);
    const blankLog = logs[at + this.#table.blank] ?? 0;
    const { best, stamp } = prefix.likeliest;
    addAlignments(prefix.nextBlank, prefix.total + blankLog, best + blankLog, stamp);
    const { label, token } = prefix;
    if (token < 0 || !label.stamp) return;
    const log = logs[at + token] ?? 0;
    const continues = this.#tokens.includes(token);
    const longer = continues ? longerStamp(label.stamp, this.#frame, log) : label.stamp;
    addAlignments(prefix.nextLabel, label.total + log, label.best + log, longer);
  }

  /** Appends each considered token to the text. */
  #extend(prefix: Prefix, scoreMin: number): void {
    const { total } = prefix;
    const { best, stamp } = prefix.likeliest;
    const isBetweenWords = this.#isBetweenWords(prefix);
    for (let index = 0; index < this.#tokens.length; index++) {
      const token = this.#tokens[index] ?? 0;
      const log = this.#logs[index] ?? 0;
      // A repetition of the last token counts as a second token only after a blank.
      const isSame = token === prefix.token;
      const from = isSame ? prefix.blank.total : total;
      if (from === Number.NEGATIVE_INFINITY) continue;
      const fromBest = isSame ? prefix.blank.best : best;
      const fromStamp = isSame ? prefix.blank.stamp : stamp;
      if (isBetweenWords && this.#isSpace(token)) {
        // A second space has no effect: it counts as a blank.
        addAlignments(prefix.nextBlank, from + log, fromBest + log, fromStamp);
        continue;
      }
      const child = prefix.childOf(token) ?? this.#newChild(prefix, token, from + log, scoreMin);
      if (!child) continue;
      this.#touch(child);
      const isBetter = fromBest + log > child.nextLabel.best;
      const first = this.#frame;
      const childStamp = isBetter
        ? { before: fromStamp, first, last: first, peak: log }
        : undefined;
      addAlignments(child.nextLabel, from + log, fromBest + log, childStamp);
    }
  }

  #newChild(parent: Prefix, token: number, total: number, scoreMin: number): Prefix | undefined {
    const spoken = this.#table.tokens[token];
    if (!spoken) return undefined;
    const words = this.#scorer.advance(parent.words, spoken);
    return total + words.score > scoreMin ? parent.append(token, words) : undefined;
  }

  #touch(prefix: Prefix): void {
    if (prefix.touchedAt === this.#frame) return;
    prefix.touchedAt = this.#frame;
    this.#next.push(prefix);
  }

  #isSpace(token: number): boolean {
    return this.#table.tokens[token]?.text === "";
  }

  #isBetweenWords({ token }: Prefix): boolean {
    return token < 0 || this.#isSpace(token);
  }

  /** Keeps the best texts and sorts them, best first. */
  #prune(): void {
    const next = this.#next;
    for (const prefix of next) prefix.advance();
    next.sort((a, b) => b.score - a.score);
    const scoreMin = (next[0]?.score ?? 0) - scoreMargin;
    let count = 0;
    for (const prefix of next) {
      prefix.isInBeam = count < this.#width && prefix.score >= scoreMin;
      if (prefix.isInBeam) count += 1;
    }
    // Prefixes leave the beam last, because only now is it known which of their children stay.
    for (let index = count; index < next.length; index++) next[index]?.leave();
    next.length = count;
    this.#next = this.#beam;
    this.#beam = next;
  }
}

function longerStamp(stamp: Stamp, frame: number, log: number): Stamp {
  return { before: stamp.before, first: stamp.first, last: frame, peak: Math.max(stamp.peak, log) };
}
