import type { WordState } from "./word-scorer.ts";

/** The alignment of a token with the frames, linked to the alignments of the tokens before it. */
export interface Stamp {
  readonly before: Stamp | undefined;
  /** The token's first and last frame in the outputs. */
  readonly first: number;
  readonly last: number;
  /** The maximum log probability of the token in these frames. */
  readonly peak: number;
}

/**
 * Alignments of the same tokens that end in the same way: their total, and the likeliest of them.
 */
export interface Alignments {
  /** The natural logarithm of their total probability. */
  total: number;
  best: number;
  stamp: Stamp | undefined;
}

/**
 * A hypothesis, as a node in the tree of all hypotheses: a token that follows those of its parent.
 * Its alignments end in a blank or in the token itself. The next token may be the same token only
 * after a blank.
 */
export class Prefix {
  readonly parent: Prefix | undefined;
  /** The token; -1 at the root. */
  readonly token: number;
  readonly words: WordState;
  /** The first child; the other children are linked by `sibling`, because there are few. */
  child: Prefix | undefined;
  sibling: Prefix | undefined;
  blank: Alignments = noAlignments();
  label: Alignments = noAlignments();
  nextBlank: Alignments = noAlignments();
  nextLabel: Alignments = noAlignments();
  /**
   * The score of all alignments and of the words. It is up to date while the prefix is in the beam.
   */
  score = Number.NEGATIVE_INFINITY;
  isInBeam = false;
  /** The last frame that added alignments to this prefix. */
  touchedAt = -1;

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

  /** The total log probability of all alignments. */
  get total(): number {
    return logSum(this.blank.total, this.label.total);
  }

  /** The likeliest alignment. */
  get likeliest(): Alignments {
    return this.label.best > this.blank.best ? this.label : this.blank;
  }

  /** Makes the alignments of this frame the ones that the next frame extends. */
  advance(): void {
    const { blank, label } = this;
    this.blank = this.nextBlank;
    this.label = this.nextLabel;
    this.nextBlank = clear(blank);
    this.nextLabel = clear(label);
    this.score = this.total + this.words.score;
  }

  /**
   * Removes the prefix from the beam. A prefix without children is also removed from the tree,
   * together with ancestors that were needed only for it.
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

/** Adds alignments with this total log probability; `best` is that of the likeliest one. */
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

/** The logarithm of the sum of two numbers that are given as logarithms. */
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
