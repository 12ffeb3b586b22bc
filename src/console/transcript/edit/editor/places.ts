import type { Node, ResolvedPos } from "prosemirror-model";
import type { EditedParagraph } from "../model/base.ts";
import { numberOf } from "./numbering.ts";

/** A paragraph in its document. */
export interface ParagraphPlace {
  readonly node: Node;
  /** The index among all paragraphs. */
  readonly index: number;
  /** The position before the paragraph; its text begins at `pos + 1`. */
  readonly pos: number;
}

/** A place between two characters of a text, by paragraph. */
export interface Caret {
  /** The index of the paragraph. */
  readonly paragraph: number;
  /** The offset in its text, in UTF-16 code units. */
  readonly offset: number;
}

function paragraphCount(doc: Node): number {
  return doc.children.reduce((sum, { childCount }) => sum + childCount, 0);
}

/** Returns the paragraph with an index; undefined if there is none. */
export function paragraphAt(doc: Node, index: number): ParagraphPlace | undefined {
  let first = 0;
  let pos = 1;
  for (const part of doc.children) {
    if (index < first + part.childCount) return inPart(part, pos, first, index - first);
    first += part.childCount;
    pos += part.nodeSize;
  }
  return undefined;
}

function inPart(part: Node, start: number, first: number, at: number): ParagraphPlace | undefined {
  const node = part.maybeChild(at);
  if (at < 0 || !node) return undefined;
  const before = part.children.slice(0, at).reduce((sum, { nodeSize }) => sum + nodeSize, 0);
  return { node, index: first + at, pos: start + before };
}

/** Returns the paragraph that contains a position. */
export function paragraphAround($pos: ResolvedPos): ParagraphPlace {
  const before = $pos.doc.children.slice(0, $pos.index(0));
  const first = before.reduce((sum, { childCount }) => sum + childCount, 0);
  return { node: $pos.node(2), index: first + $pos.index(1), pos: $pos.before(2) };
}

/**
 * Returns the paragraph whose run contains a word. An empty run contains no word, so each word is
 * in one paragraph.
 */
export function paragraphOfWord(doc: Node, word: number): ParagraphPlace | undefined {
  const parts = doc.children;
  let first = 0;
  let pos = 1;
  for (const part of parts) {
    const { lastChild } = part;
    if (lastChild && word < runOf(lastChild).to) {
      const at = part.children.findIndex((node) => word < runOf(node).to);
      return inPart(part, pos, first, at);
    }
    first += part.childCount;
    pos += part.nodeSize;
  }
  return undefined;
}

/** Returns the run of a paragraph's node, which are words of the base. */
export function runOf({ attrs }: Node): Pick<EditedParagraph, "from" | "to"> {
  return { from: numberOf(attrs["from"]), to: numberOf(attrs["to"]) };
}

/** Returns the position of a caret in the document, which is clamped to the text. */
export function positionOf(doc: Node, { paragraph, offset }: Caret): number {
  const index = Math.min(Math.max(0, paragraph), paragraphCount(doc) - 1);
  const place = paragraphAt(doc, index);
  if (!place) return 2;
  return place.pos + 1 + Math.min(Math.max(0, offset), place.node.content.size);
}

/** Returns the caret at a position of the document. */
export function caretAt($pos: ResolvedPos): Caret {
  return { paragraph: paragraphAround($pos).index, offset: $pos.parentOffset };
}
