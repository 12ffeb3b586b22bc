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
  /** States, or the number of states and the word's index for the beginning of a word. */
  readonly #sources: Int32Array;
  /** The first two of these. In place of missing ones: the last place, which has no path. */
  readonly #source1: Int32Array;
  readonly #source2: Int32Array;
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
        const from =
          arc.from === 0 ? [-1 - index] : ending.filter((state) => tokenOf[state] !== token);
        endingAt[arc.to]?.push(add(token, from));
      }
      ends.push(...(endingAt[length] ?? []).filter(() => length > 0));
      this.#firstOf[index + 1] = tokenOf.length;
      this.#endsAt[index + 1] = ends.length;
    }
    const count = tokenOf.length;
    this.#tokenOf = Int32Array.from(tokenOf);
    this.#sources = Int32Array.from(sources, (source) =>
      source < 0 ? count - 1 - source : source,
    );
    this.#sourcesAt = Int32Array.from(sourcesAt);
    this.#ends = Int32Array.from(ends);
    const nowhere = count + words.length + 1;
    const sourceOf = (state: number, nth: number) => {
      const at = (sourcesAt[state] ?? 0) + nth;
      return at < (sourcesAt[state + 1] ?? 0) ? (this.#sources[at] ?? nowhere) : nowhere;
    };
    this.#source1 = Int32Array.from({ length: count }, (_, state) => sourceOf(state, 0));
    this.#source2 = Int32Array.from({ length: count }, (_, state) => sourceOf(state, 1));
  }

  *find(emissions: Emissions): Generator<void, FoundWords, void> {
    const trellis = new Trellis(this.#words.length, this.#tokenOf.length, emissions.tokenCount);
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
    const { before, gaps, scores } = trellis;
    const at = frame * tokenCount;
    const { quiet, sound } = this.#loudest(logs, at, tokenCount);
    const { unexplainedCost, anySoundCost, pauseCost, tokenCostMax } = this.#model;
    const gap = Math.max(quiet, sound - unexplainedCost);
    scores[0] = Math.max(-tokenCostMax, quiet - pauseCost, sound - anySoundCost);
    scores[1] = Math.max(-tokenCostMax, logs[at + (this.#model.blank ?? 0)] ?? 0);
    for (let token = 0; token < tokenCount; token++) {
      const log = logs[at + token] ?? 0;
      scores[token + 2] = log > -tokenCostMax ? log : -tokenCostMax;
    }
    const first = this.#firstOf[trellis.low] ?? 0;
    const end = this.#firstOf[Math.min(trellis.high + 1, this.#words.length)] ?? 0;
    let bestScore = this.#stepStates(trellis, first, end);
    for (let index = trellis.low; index <= trellis.high; index++) {
      const total = (before[index] ?? -Infinity) + gap;
      gaps[index] = total;
      if (total > bestScore) bestScore = total;
    }
    trellis.best = bestScore;
  }

  /** Continues the paths within words from one frame to the next; returns the best score. */
  #stepStates(trellis: Trellis, first: number, end: number): number {
    const { states, scores } = trellis;
    const base = trellis.reserve(end - first) - first;
    const { choices } = trellis;
    const tokens = this.#tokenOf;
    const source1 = this.#source1;
    const source2 = this.#source2;
    const sourcesAt = this.#sourcesAt;
    let bestScore = -Infinity;
    // States before a state have lower numbers, so they still have the scores of the last frame.
    for (let state = end - 1; state >= first; state--) {
      let best = states[state] ?? -Infinity;
      let choice = 0;
      const score1 = states[source1[state] ?? 0] ?? -Infinity;
      if (score1 > best) {
        best = score1;
        choice = 1;
      }
      const score2 = states[source2[state] ?? 0] ?? -Infinity;
      if (score2 > best) {
        best = score2;
        choice = 2;
      }
      const sourcesEnd = sourcesAt[state + 1] ?? 0;
      for (let from = (sourcesAt[state] ?? 0) + 2, kind = 3; from < sourcesEnd; from++, kind++) {
        const score = states[this.#sources[from] ?? 0] ?? -Infinity;
        if (score > best) {
          best = score;
          choice = kind;
        }
      }
      const total = best + (scores[(tokens[state] ?? 0) + 2] ?? 0);
      states[state] = total;
      choices[base + state] = choice;
      if (total > bestScore) bestScore = total;
    }
    return bestScore;
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
      const source = this.#sources[(this.#sourcesAt[state] ?? 0) + choice - 1] ?? Infinity;
      if (source >= this.#tokenOf.length) break;
      state = source;
    }
    return { first: frame, last: from.frame - 1, score: count === 0 ? 0 : Math.exp(sum / count) };
  }
}
