import type { Hint } from "../protocol/engine.ts";
import { foldedWords } from "../protocol/hint-words.ts";
import { LetterTrie } from "./letter-trie.ts";
import { lettersOf, spaceLetter } from "./token-table.ts";

/** The score of each letter of a phrase per unit of the phrase's boost, as a natural logarithm. */
const scorePerBoost = 0.06;

/** A state of the automaton, and the score of the text up to it. */
export interface HintState {
  readonly node: number;
  readonly score: number;
}

/**
 * An Aho-Corasick automaton over the letters of phrases that are likely to be said. Each letter
 * along a phrase adds to the score. The sum is kept when the phrase is complete, and is subtracted
 * when the text leaves the phrase. A node represents the longest beginning of a phrase with which
 * the text ends.
 */
export class HintGraph {
  /** The state at the start of an utterance. */
  readonly start: HintState;
  readonly #trie = new LetterTrie();
  /**
   * For each node: the score of the letters on its path, the part of that score that is kept
   * whatever follows, and the score of the phrase that is complete at the node.
   */
  readonly #earned: Float64Array;
  readonly #kept: Float64Array;
  readonly #completed: Float64Array;
  /**
   * The node at which to continue if no child matches (the failure link of Aho-Corasick): the
   * longest proper suffix of this node's path that is also the beginning of a phrase.
   */
  readonly #fallbacks: Int32Array;

  constructor(hints: readonly Hint[]) {
    const paths = hints.map(({ phrase, boost }) => ({
      letters: pathOf(foldedWords(phrase)),
      boost,
    }));
    const behindSpace = this.#trie.add([spaceLetter]);
    for (const { letters } of paths) this.#trie.add(letters);
    const count = this.#trie.stateCount;
    this.start = { node: behindSpace, score: 0 };
    this.#earned = new Float64Array(count);
    this.#kept = new Float64Array(count);
    this.#completed = new Float64Array(count);
    this.#fallbacks = new Int32Array(count);
    for (const step of this.#stepsOf(paths)) this.#link(step);
  }

  advance({ node, score }: HintState, letter: number): HintState {
    const onward = this.#trie.next(node, letter);
    if (onward !== undefined) {
      return { node: onward, score: score + this.#earnedAt(onward) - this.#earnedAt(node) };
    }
    const next = this.#follow(this.#fallbacks[node] ?? 0, letter);
    const kept = score - this.#pendingAt(node);
    return { node: next, score: kept + this.#pendingAt(next) + (this.#completed[next] ?? 0) };
  }

  /** The score of the text if nothing follows. */
  finish(state: HintState): number {
    const { node, score } = this.advance(state, spaceLetter);
    return score - this.#pendingAt(node);
  }

  /** Returns the node of the longest beginning of a phrase that continues with this letter. */
  #follow(from: number, letter: number): number {
    for (let node = from; ; node = this.#fallbacks[node] ?? 0) {
      const next = this.#trie.next(node, letter);
      if (next !== undefined) return next;
      if (node === 0) return 0;
    }
  }

  /** Returns the nodes with the letters that lead to them, in order of depth. */
  #stepsOf(
    paths: readonly { readonly letters: readonly number[]; readonly boost: number }[],
  ): Step[] {
    const steps = new Map<number, Step>();
    for (const { letters, boost } of paths) {
      let parent = 0;
      for (const [depth, letter] of letters.entries()) {
        const node = this.#trie.next(parent, letter) ?? 0;
        const earned = letter === spaceLetter ? 0 : boost * scorePerBoost;
        const before = steps.get(node)?.earned ?? 0;
        steps.set(node, { node, parent, depth, letter, earned: Math.max(earned, before) });
        parent = node;
      }
    }
    return [...steps.values()].toSorted((a, b) => a.depth - b.depth);
  }

  #link({ node, parent, depth, letter, earned }: Step): void {
    const fallback = depth === 0 ? 0 : this.#follow(this.#fallbacks[parent] ?? 0, letter);
    this.#fallbacks[node] = fallback;
    const total = this.#earnedAt(parent) + earned;
    this.#earned[node] = total;
    // A path that is only a space is not a phrase.
    const isPhrase = depth > 0 && this.#trie.isEnd(node);
    const completed = isPhrase ? total : (this.#completed[fallback] ?? 0);
    this.#completed[node] = completed;
    this.#kept[node] = Math.max(this.#kept[parent] ?? 0, completed);
  }

  #earnedAt(node: number): number {
    return this.#earned[node] ?? 0;
  }

  #pendingAt(node: number): number {
    return this.#earnedAt(node) - (this.#kept[node] ?? 0);
  }
}

interface Step {
  readonly node: number;
  readonly parent: number;
  readonly depth: number;
  readonly letter: number;
  readonly earned: number;
}

/**
 * The letters of the words, with a space before and after each word, so that a phrase begins and
 * ends at word boundaries.
 */
function pathOf(words: readonly string[]): readonly number[] {
  return [spaceLetter, ...words.flatMap((word) => [...lettersOf(word), spaceLetter])];
}
