import { Trellis } from "./trellis.ts";

/** A part of a word: a token from one place in it to a later one, or any sound. */
export interface WordArc {
  readonly from: number;
  readonly to: number;
  /** The number of the token; undefined for any sound. */
  readonly token: number | undefined;
}

/** A word as a model can say it. */
export interface SpokenWord {
  /** The last place; the first one is 0. A word with no other place is silent. */
  readonly length: number;
  /** All parts in the order of `from`. Every path along them leads to the last place. */
  readonly arcs: readonly WordArc[];
}

/** The log probabilities of a model's tokens, frame by frame. */
export interface Emissions {
  readonly logs: Float32Array;
  readonly frames: number;
  readonly tokenCount: number;
}

/** How a model says words. The costs are negative natural logarithms. */
export interface LatticeModel {
  /** The tokens of silence. */
  readonly quiet: readonly number[];
  /** A token that may stand between two others of a word; undefined if there is none. */
  readonly blank: number | undefined;
  /** The cost of a frame with sound between two words. */
  readonly unexplainedCost: number;
  /** The cost of a frame of any sound within a word, and of a frame of silence there. */
  readonly anySoundCost: number;
  readonly pauseCost: number;
  /** The cost of a word that is not in the sound. */
  readonly missingCost: number;
  /** The maximum cost of a token in a frame: one letter alone does not exclude a word. */
  readonly tokenCostMax: number;
  /** The frames of a second. */
  readonly framesPerSecond: number;
}

/** A word that was found: its frames, and how probable its tokens are in them, from 0 to 1. */
export interface FoundWord {
  readonly first: number;
  readonly last: number;
  readonly score: number;
}

export interface FoundWords {
  /** For each word; undefined if it was not found. */
  readonly words: readonly (FoundWord | undefined)[];
  /** For each frame, whether it has sound that belongs to no word. */
  readonly isUnexplained: Uint8Array;
}

/** Paths that are this much worse than the best one are not continued. */
const beam = 250;
/** The work is done in slices of this part of a second of audio. */
const slicesPerSecond = 4;

/**
 * Finds the words in the outputs of a model: the best path through all words in order
 * (Viterbi). Any word may be missing, and there may be any sound between two words.
 */
export class WordLattice {
  readonly #words: readonly SpokenWord[];
  readonly #model: LatticeModel;
  readonly #isQuiet: Uint8Array;
  /** The states of word i are those from #firstOf[i] to #firstOf[i + 1]. */
  readonly #firstOf: Int32Array;
  /** The token of each state; -1: blank, -2: any sound. */
  readonly #tokenOf: Int32Array;
  /** The states before a state other than itself: from #sourcesAt[s] to #sourcesAt[s + 1]. */
  readonly #sourcesAt: Int32Array;
  /** A state, or -1 for the beginning of the word. */
  readonly #sources: Int32Array;
  /** The last states of each word: from #endsAt[i] to #endsAt[i + 1]. */
  readonly #endsAt: Int32Array;
  readonly #ends: Int32Array;

  constructor(words: readonly SpokenWord[], model: LatticeModel) {
    this.#words = words;
    this.#model = model;
    this.#isQuiet = new Uint8Array(Math.max(...model.quiet) + 1);
    for (const token of model.quiet) this.#isQuiet[token] = 1;
    const tokenOf: number[] = [];
    const sources: number[] = [];
    const sourcesAt: number[] = [0];
    const ends: number[] = [];
    this.#firstOf = new Int32Array(words.length + 1);
    this.#endsAt = new Int32Array(words.length + 1);
    for (const [index, { arcs, length }] of words.entries()) {
      const endingAt: number[][] = Array.from({ length: length + 1 }, () => []);
      let position = 0;
      const add = (token: number, from: readonly number[]): number => {
        sources.push(...from);
        sourcesAt.push(sources.length);
        return tokenOf.push(token) - 1;
      };
      for (const arc of arcs) {
        const ending = endingAt[arc.from] ?? [];
        if (arc.from > position && model.blank !== undefined) {
          position = arc.from;
          ending.push(add(-1, ending));
        }
        const token = arc.token ?? -2;
        const from = arc.from === 0 ? [-1] : ending.filter((state) => tokenOf[state] !== token);
        endingAt[arc.to]?.push(add(token, from));
      }
      ends.push(...(endingAt[length] ?? []).filter(() => length > 0));
      this.#firstOf[index + 1] = tokenOf.length;
      this.#endsAt[index + 1] = ends.length;
    }
    this.#tokenOf = Int32Array.from(tokenOf);
    this.#sources = Int32Array.from(sources);
    this.#sourcesAt = Int32Array.from(sourcesAt);
    this.#ends = Int32Array.from(ends);
  }

  *find(emissions: Emissions): Generator<void, FoundWords, void> {
    const trellis = new Trellis(this.#words.length, this.#tokenOf.length);
    const sliceFrames = Math.ceil(this.#model.framesPerSecond / slicesPerSecond);
    for (let frame = 0; frame < emissions.frames; frame++) {
      this.#step(trellis, emissions, frame);
      if ((frame + 1) % sliceFrames === 0) yield;
    }
    this.#enter(trellis);
    return this.#trace(trellis, emissions);
  }

  /** Finds the best way to stand before each word, and leaves out the ways that are hopeless. */
  #enter(trellis: Trellis): void {
    const { gaps, before, states } = trellis;
    const wordCount = this.#words.length;
    trellis.beginFrame();
    const limit = trellis.best - beam;
    // The first words are left out when all their paths are hopeless.
    while (trellis.low < trellis.high && !this.#isAlive(trellis, trellis.low, limit)) trellis.low++;
    let index = trellis.low;
    for (; index <= wordCount; index++) {
      let best = gaps[index] ?? -Infinity;
      let choice = 0;
      if (index > trellis.low) {
        const isSpoken = (this.#words[index - 1]?.length ?? 0) > 0;
        const skipped = (before[index - 1] ?? -Infinity) - (isSpoken ? this.#model.missingCost : 0);
        if (skipped > best) {
          best = skipped;
          choice = 1;
        }
        const end = this.#endsAt[index] ?? 0;
        for (let at = this.#endsAt[index - 1] ?? 0, kind = 2; at < end; at++, kind++) {
          const score = states[this.#ends[at] ?? 0] ?? -Infinity;
          if (score > best) {
            best = score;
            choice = kind;
          }
        }
      }
      // A word is alive as long as its states are, even if nothing enters it any more.
      if (index > trellis.high && best < limit) break;
      before[index] = best;
      trellis.addChoice(choice);
    }
    trellis.high = Math.max(trellis.high, index - 1);
  }

  #isAlive({ gaps, states }: Trellis, index: number, limit: number): boolean {
    if ((gaps[index] ?? -Infinity) >= limit) return true;
    const end = this.#firstOf[index + 1] ?? 0;
    for (let state = this.#firstOf[index] ?? 0; state < end; state++) {
      if ((states[state] ?? -Infinity) >= limit) return true;
    }
    return false;
  }

  #step(trellis: Trellis, { logs, tokenCount }: Emissions, frame: number): void {
    this.#enter(trellis);
    const { states, before, gaps } = trellis;
    const at = frame * tokenCount;
    const { quiet, sound } = this.#loudest(logs, at, tokenCount);
    const { unexplainedCost, anySoundCost, pauseCost, tokenCostMax } = this.#model;
    const blank = logs[at + (this.#model.blank ?? 0)] ?? 0;
    const gap = Math.max(quiet, sound - unexplainedCost);
    const anySound = Math.max(quiet - pauseCost, sound - anySoundCost);
    const last = Math.min(trellis.high, this.#words.length - 1);
    trellis.reserve((this.#firstOf[last + 1] ?? 0) - (this.#firstOf[trellis.low] ?? 0));
    let bestScore = -Infinity;
    for (let index = last; index >= trellis.low; index--) {
      const entry = before[index] ?? -Infinity;
      const first = this.#firstOf[index] ?? 0;
      for (let state = (this.#firstOf[index + 1] ?? 0) - 1; state >= first; state--) {
        let best = states[state] ?? -Infinity;
        let choice = 0;
        const end = this.#sourcesAt[state + 1] ?? 0;
        for (let from = this.#sourcesAt[state] ?? 0, kind = 1; from < end; from++, kind++) {
          const source = this.#sources[from] ?? 0;
          const score = source < 0 ? entry : (states[source] ?? -Infinity);
          if (score > best) {
            best = score;
            choice = kind;
          }
        }
        const token = this.#tokenOf[state] ?? 0;
        const log = token >= 0 ? (logs[at + token] ?? 0) : token === -1 ? blank : anySound;
        const total = best + (log > -tokenCostMax ? log : -tokenCostMax);
        states[state] = total;
        trellis.setChoice(state - (this.#firstOf[trellis.low] ?? 0), choice);
        if (total > bestScore) bestScore = total;
      }
    }
    for (let index = trellis.low; index <= trellis.high; index++) {
      const total = (before[index] ?? -Infinity) + gap;
      gaps[index] = total;
      if (total > bestScore) bestScore = total;
    }
    trellis.best = bestScore;
  }

  /** The log probabilities of the likeliest silence and of the likeliest letter of a frame. */
  #loudest(logs: Float32Array, at: number, tokenCount: number) {
    let sound = -Infinity;
    let quiet = -Infinity;
    for (let token = 0; token < tokenCount; token++) {
      const log = logs[at + token] ?? 0;
      if (this.#isQuiet[token] === 1) {
        if (log > quiet) quiet = log;
      } else if (log > sound) sound = log;
    }
    return { quiet, sound };
  }

  /** Follows the best path back from its end. The words after it are missing. */
  #trace(trellis: Trellis, { logs, frames, tokenCount }: Emissions): FoundWords {
    const words: (FoundWord | undefined)[] = this.#words.map(() => undefined);
    const isUnexplained = new Uint8Array(frames);
    let index = trellis.low;
    for (let each = index; each <= trellis.high; each++) {
      if ((trellis.before[each] ?? -Infinity) > (trellis.before[index] ?? -Infinity)) index = each;
    }
    let frame = frames;
    for (;;) {
      const choice = trellis.enteredAt(frame, index);
      if (choice === 1) index -= 1;
      else if (choice === 0) {
        if (frame === 0) break;
        frame -= 1;
        const { quiet, sound } = this.#loudest(logs, frame * tokenCount, tokenCount);
        isUnexplained[frame] = Number(sound > quiet);
      } else {
        index -= 1;
        const end = this.#ends[(this.#endsAt[index] ?? 0) + choice - 2] ?? 0;
        const found = this.#traceWord(trellis, { logs, tokenCount, frame, end });
        words[index] = found;
        frame = found.first;
      }
    }
    return { words, isUnexplained };
  }

  /** Follows a word back from its last state, which ends before `frame`. */
  #traceWord(
    trellis: Trellis,
    from: {
      readonly logs: Float32Array;
      readonly tokenCount: number;
      readonly frame: number;
      readonly end: number;
    },
  ): FoundWord {
    const { logs, tokenCount } = from;
    let { frame, end: state } = from;
    let [sum, count, best] = [0, 0, -Infinity];
    for (;;) {
      frame -= 1;
      const token = this.#tokenOf[state] ?? 0;
      if (token >= 0) best = Math.max(best, logs[frame * tokenCount + token] ?? 0);
      const lowState = this.#firstOf[trellis.lowAt(frame)] ?? 0;
      const choice = trellis.choiceAt(frame, state - lowState);
      if (choice === 0) continue;
      if (token >= 0) {
        sum += Math.max(-this.#model.tokenCostMax, best);
        count += 1;
        best = -Infinity;
      }
      const source = this.#sources[(this.#sourcesAt[state] ?? 0) + choice - 1] ?? -1;
      if (source < 0) break;
      state = source;
    }
    return { first: frame, last: from.frame - 1, score: count === 0 ? 0 : Math.exp(sum / count) };
  }
}
