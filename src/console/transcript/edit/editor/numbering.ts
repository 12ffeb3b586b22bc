import { firstIndex } from "../../spoken-text.ts";

/**
 * Numbers the edges between the words of the base of an edited text. When the base is replaced by
 * another version, the edges get other numbers, but the paragraphs of the document and the steps of
 * the history keep the edges that they have: an edge knows how it was numbered.
 */
export class Numbering {
  readonly #moves: EdgeMove[] = [];

  /** How many bases there were before. */
  get epoch(): number {
    return this.#moves.length;
  }

  /** Returns the edge before a word of the current base, by the index of the word. */
  edge(index: number): Edge {
    return new Edge(this, this.epoch, index);
  }

  /**
   * Replaces the base: `edges` has the new number of each edge, in ascending order, from the first
   * word to the end.
   */
  move(edges: Int32Array): void {
    this.#moves.push(new EdgeMove(edges));
  }

  /** Returns the number that an edge of an earlier base has now. */
  now(epoch: number, index: number): number {
    let number = index;
    for (let at = epoch; at < this.#moves.length; at += 1) {
      number = this.#moves[at]?.numberOf(number) ?? number;
    }
    return number;
  }
}

/** An edge between words, as an attribute of a paragraph. It never changes. */
export class Edge {
  readonly numbering: Numbering;
  readonly epoch: number;
  readonly index: number;

  constructor(numbering: Numbering, epoch: number, index: number) {
    this.numbering = numbering;
    this.epoch = epoch;
    this.index = index;
  }

  /** The index of the word after it in the current base. */
  get now(): number {
    return this.numbering.now(this.epoch, this.index);
  }
}

/** Returns the current number of an edge; -1 if a paragraph has none, as those of a browser. */
export function numberOf(edge: unknown): number {
  return edge instanceof Edge ? edge.now : -1;
}

/**
 * The new numbers of edges. Most words are in both bases, so few places have to be kept where the
 * distance between the numbers changes.
 */
class EdgeMove {
  readonly #starts: number[] = [];
  readonly #numbers: number[] = [];

  constructor(edges: Int32Array) {
    let expected = -1;
    for (let index = 0; index < edges.length; index += 1) {
      const number = edges[index] ?? 0;
      if (number !== expected) {
        this.#starts.push(index);
        this.#numbers.push(number);
      }
      expected = number + 1;
    }
  }

  numberOf(index: number): number {
    const at = firstIndex(this.#starts.length, (one) => (this.#starts[one] ?? 0) > index) - 1;
    return (this.#numbers[at] ?? 0) + index - (this.#starts[at] ?? 0);
  }
}
