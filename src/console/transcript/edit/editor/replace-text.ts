import { Fragment, type Node, type ResolvedPos, Slice } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import { paragraphsPerPart } from "../../playback-highlight.ts";
import { runOf } from "./places.ts";
import { numberOf } from "./numbering.ts";
import { markOf, nodeOf, numberingOf, paragraphOf, partsOf, schema } from "./schema.ts";
import type { EditedParagraph } from "../model/base.ts";
import type { Pin } from "../model/pin.ts";
import { areSamePins } from "../model/pins.ts";

/**
 * Every change of the paragraphs is a step between two positions in text. Such a step stays valid
 * when parts are divided or joined, so that it can be undone later.
 */

/** A range between two positions in texts. */
export interface TextRange {
  readonly $from: ResolvedPos;
  readonly $to: ResolvedPos;
}

/** Returns a range with both ends in texts: the first or last place in text within it. */
export function inTexts(doc: Node, from: number, to: number): TextRange {
  const first = doc.resolve(intoText(doc, Math.min(from, to), 1));
  const last = doc.resolve(intoText(doc, Math.max(from, to), -1));
  return first.pos <= last.pos ? { $from: first, $to: last } : { $from: first, $to: first };
}

/** Returns the nearest position in a text, forward or back. */
function intoText(doc: Node, pos: number, direction: 1 | -1): number {
  for (const by of [direction, -direction]) {
    for (let at = pos; at > 0 && at < doc.content.size; at += by) {
      if (doc.resolve(at).depth === 2) return at;
    }
  }
  return direction === 1 ? 2 : doc.content.size - 2;
}

/**
 * Replaces a range by text. If it covers an edge of paragraphs, they become one, which owns all of
 * their sound. Without text, a space is kept between words of two paragraphs. If no text of the
 * first paragraph remains, the speaker is that of the last one. Returns the length of the text that
 * was inserted. `isOneWord`: the paragraphs meet within a word, which gets no space.
 */
export function replaceByText(
  tr: Transaction,
  { $from, $to }: TextRange,
  text: string,
  { isOneWord = false }: { readonly isOneWord?: boolean } = {},
): number {
  const isJoin = $from.before(2) !== $to.before(2);
  const isSpaced = isJoin && text === "" && !isOneWord && needsSpace($from, $to);
  const inserted = isSpaced ? " " : text;
  tr.step(new ReplaceStep($from.pos, $to.pos, sliceOfText(inserted)));
  if (!isJoin) return inserted.length;
  const [first, last] = [$from.parent, $to.parent];
  setAttributes(tr, $from.before(2), {
    to: runOf(last).to,
    ...($from.parentOffset === 0 && {
      speaker: speakerOf(last),
      ...(speakerOf(last) !== speakerOf(first) && { isSoft: false }),
    }),
  });
  return inserted.length;
}

export function sliceOfText(text: string): Slice {
  return text === "" ? Slice.empty : new Slice(Fragment.from(schema.text(text)), 0, 0);
}

export function speakerOf({ attrs }: Node): string {
  return String(attrs["speaker"]);
}

function needsSpace($from: ResolvedPos, $to: ResolvedPos): boolean {
  const before = $from.parent.textContent.slice(0, $from.parentOffset);
  const after = $to.parent.textContent.slice($to.parentOffset);
  return /\S$/.test(before) && /^\S/.test(after);
}

/**
 * Replaces a range by paragraphs: the text before the range is joined to the first one, and the
 * text after it to the last one. `first` are the attributes of the first paragraph, where they
 * change.
 */
export function replaceByParagraphs(
  tr: Transaction,
  { $from, $to }: TextRange,
  paragraphs: readonly EditedParagraph[],
): void {
  const [first] = paragraphs;
  if (!first) return;
  const numbering = numberingOf(tr.doc);
  const nodes = paragraphs.map((paragraph) => nodeOf(paragraph, numbering));
  const isLong = nodes.length > paragraphsPerPart;
  const content = isLong ? partsOf(nodes) : Fragment.from(nodes);
  const open = isLong ? 2 : 1;
  tr.step(new ReplaceStep($from.pos, $to.pos, new Slice(content, open, open)));
  const { speaker, from, to, isSoft } = first;
  setAttributes(tr, $from.before(2), { speaker, from, to, isSoft });
}

/** Sets the pins of the paragraph at a position, if they differ. */
export function setPins(tr: Transaction, pos: number, pins: readonly Pin[] = []): void {
  const node = tr.doc.nodeAt(pos);
  if (!node || areSamePins(paragraphOf(node).pins, pins)) return;
  tr.removeMark(pos + 1, pos + 1 + node.content.size, schema.marks.pin);
  for (const pin of pins) tr.addMark(pos + 1 + pin.from, pos + 1 + pin.to, markOf(pin));
}

/** Changes the attributes of the paragraph at a position, if they differ. */
export function setAttributes(
  tr: Transaction,
  pos: number,
  attributes: Partial<Omit<EditedParagraph, "text" | "pins">>,
): void {
  const node = tr.doc.nodeAt(pos);
  const numbering = numberingOf(tr.doc);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "number") {
      if (numberOf(node?.attrs[name]) === value) continue;
      tr.setNodeAttribute(pos, name, numbering.edge(value));
    } else if (node?.attrs[name] !== value) tr.setNodeAttribute(pos, name, value);
  }
}
