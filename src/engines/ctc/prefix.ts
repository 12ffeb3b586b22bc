import type { WordState } from "./word-scorer.ts";

/** The alignment of a token with the frames, and before it of those before it. */
export interface Stamp {
  readonly before: Stamp | undefined;
  /** Frames of the outputs. */
  readonly first: number;
  readonly last: number;
  /** Logarithm of its greatest probability among them. */
  readonly peak: number;
}

/** Ways to say the same tokens that end alike: all of them together, and the likeliest one. */
export interface Alignments {
  /** Natural logarithm of the probability of all. */
  total: number;
  best: number;
  stamp: Stamp | undefined;
}

/**
 * A text so far, as a node of the tree of all texts in question: a token after those of its parent.
 * Alignments of it end in a blank or in the token itself; the next token may be the same one only
 * after a blank.
 */
export class Prefix {
  readonly parent: Prefix | undefined;
  /** -1 at the root. */
  readonly token: number;
  readonly words: WordState;
  /** Its first child, and the others by their `sibling`: there are few. */
  child: Prefix | undefined;
  sibling: Prefix | undefined;
  blank: Alignments = noAlignments();
  label: Alignments = noAlignments();
  nextBlank: Alignments = noAlignments();
  nextLabel: Alignments = noAlignments();
  /** Of all alignments and the words; up to date while it is in the beam. */
  score = Number.NEGATIVE_INFINITY;
  isInBeam = false;
  /** The frame that it was last looked at in. */
  lookedAt = -1;

  constructor(parent: Prefix | undefined, token: number, words: WordState) {
    this.parent = parent;
    this.token = token;
    this.words = words;
  }

  childOf(token: number): Prefix | undefined {
    for (let child = this.child; child; child = child.sibling) {
      if (child.token === token) return child;
    }
    return undefined;
  }

  append(token: number, words: WordState): Prefix {
    const child = new Prefix(this, token, words);
    child.sibling = this.child;
    this.child = child;
    return child;
  }

  /** All alignments together. */
  get total(): number {
    return logSum(this.blank.total, this.label.total);
  }

  /** The likeliest alignment. */
  get likeliest(): Alignments {
    return this.label.best > this.blank.best ? this.label : this.blank;
  }

  /** What was gathered in this frame is what the next one goes on from. */
  advance(): void {
    const { blank, label } = this;
    this.blank = this.nextBlank;
    this.label = this.nextLabel;
    this.nextBlank = clear(blank);
    this.nextLabel = clear(label);
    this.score = this.total + this.words.score;
  }

  /**
   * It is in the beam no more: where nobody comes after it, it leaves the tree with those before it
   * that stood there only for it.
   */
  leave(): void {
    this.isInBeam = false;
    clear(this.blank);
    clear(this.label);
    this.#removeLeaf();
  }

  #removeLeaf(): void {
    if (!this.parent || this.child || this.isInBeam) return;
    this.parent.#remove(this);
    this.parent.#removeLeaf();
  }

  #remove(child: Prefix): void {
    if (this.child === child) {
      this.child = child.sibling;
      return;
    }
    let before = this.child;
    while (before && before.sibling !== child) before = before.sibling;
    if (before) before.sibling = child.sibling;
  }
}

/** Adds alignments of this probability, the likeliest of which is `best`. */
export function addAlignments(
  to: Alignments,
  total: number,
  best: number,
  stamp: Stamp | undefined,
): void {
  to.total = logSum(to.total, total);
  if (best <= to.best) return;
  to.best = best;
  to.stamp = stamp;
}

/** The logarithm of the sum of two numbers given by theirs. */
export function logSum(a: number, b: number): number {
  const less = Math.min(a, b);
  const more = Math.max(a, b);
  if (less === Number.NEGATIVE_INFINITY) return more;
  return more + Math.log1p(Math.exp(less - more));
}

function noAlignments(): Alignments {
  return { total: Number.NEGATIVE_INFINITY, best: Number.NEGATIVE_INFINITY, stamp: undefined };
}

function clear(alignments: Alignments): Alignments {
  alignments.total = Number.NEGATIVE_INFINITY;
  alignments.best = Number.NEGATIVE_INFINITY;
  alignments.stamp = undefined;
  return alignments;
}
