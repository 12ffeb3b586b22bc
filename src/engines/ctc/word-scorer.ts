import type { Hint } from "../protocol/engine.ts";
import { foldedWords } from "../protocol/hint-words.ts";
import { HintGraph, type HintState } from "./hint-graph.ts";
import { LetterTrie } from "./letter-trie.ts";
import { lettersOf, spaceLetter, type Token } from "./token-table.ts";

/** The state of a word whose letters begin no known word. */
const unknown = -1;

/**
 * The score of the words of a hypothesis, without its acoustic score, and the hypothesis's states
 * in the lexicon and the hints.
 */
export interface WordState {
  /** The score of all words so far, as a natural logarithm; 0 is neutral. */
  readonly score: number;
  /** The states in the words of the lexicon, and in the words of the hints. */
  readonly word: number;
  readonly hintWord: number;
  readonly hint: HintState | undefined;
}

/** The words of a model; any other word costs `penalty`. */
export interface Lexicon {
  readonly words: LetterTrie;
  readonly penalty: number;
}

/**
 * Scores hypotheses by a lexicon and by the hints of a session, either of which may be absent.
 * Words of hints count as known.
 */
export class WordScorer {
  readonly start: WordState;
  readonly #lexicon: Lexicon | undefined;
  readonly #hints: HintGraph | undefined;
  readonly #hintWords = new LetterTrie();

  constructor(lexicon: Lexicon | undefined, hints: readonly Hint[] = []) {
    this.#lexicon = lexicon;
    const phrases = hints.map(({ phrase }) => phrase);
    for (const word of phrases.flatMap(foldedWords)) this.#hintWords.add(lettersOf(word));
    if (phrases.length > 0) this.#hints = new HintGraph(hints);
    this.start = { score: 0, word: 0, hintWord: 0, hint: this.#hints?.start };
  }

  advance(state: WordState, token: Token): WordState {
    if (!this.#lexicon && !this.#hints) return state;
    let next = state;
    if (token.startsWord) next = this.#endWord(next);
    for (const letter of token.letters) next = this.#addLetter(next, letter);
    return next;
  }

  /**
   * The score if nothing follows: it includes the penalty of an unknown last word, and excludes
   * incomplete phrases.
   */
  finish(state: WordState): number {
    const { score, hint } = state;
    const hintScore = hint && this.#hints ? this.#hints.finish(hint) - hint.score : 0;
    return score - this.#penaltyOfEnd(state) + hintScore;
  }

  #endWord(state: WordState): WordState {
    const hint = state.hint && this.#hints?.advance(state.hint, spaceLetter);
    const score = state.score - this.#penaltyOfEnd(state) + gained(state.hint, hint);
    return { score, word: 0, hintWord: 0, hint };
  }

  #addLetter(state: WordState, letter: number): WordState {
    const hint = state.hint && this.#hints?.advance(state.hint, letter);
    const score = state.score + gained(state.hint, hint);
    const lexicon = this.#lexicon;
    if (!lexicon) return { score, word: 0, hintWord: 0, hint };
    const word = follow(lexicon.words, state.word, letter);
    const hintWord = follow(this.#hintWords, state.hintWord, letter);
    const wasKnown = state.word !== unknown || state.hintWord !== unknown;
    const isKnown = word !== unknown || hintWord !== unknown;
    const penalty = wasKnown && !isKnown ? lexicon.penalty : 0;
    return { score: score - penalty, word, hintWord, hint };
  }

  /**
   * The penalty for a word that is only the beginning of known words. A word whose letters begin no
   * known word has already been penalized.
   */
  #penaltyOfEnd({ word, hintWord }: WordState): number {
    const lexicon = this.#lexicon;
    if (!lexicon || (word === unknown && hintWord === unknown)) return 0;
    // There have been no letters since the last word.
    if (word === 0 && hintWord === 0) return 0;
    const isKnown =
      (word !== unknown && lexicon.words.isEnd(word)) ||
      (hintWord !== unknown && this.#hintWords.isEnd(hintWord));
    return isKnown ? 0 : lexicon.penalty;
  }
}

function follow(words: LetterTrie, state: number, letter: number): number {
  return state === unknown ? unknown : (words.next(state, letter) ?? unknown);
}

function gained(before: HintState | undefined, after: HintState | undefined): number {
  return before && after ? after.score - before.score : 0;
}
