import { TextSelection, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Base, EditedParagraph } from "../model/base.ts";
import { edgeAt } from "../model/divide.ts";
import { movedEdges } from "../model/moved-edges.ts";
import { beginStep, selectedRange } from "./commands.ts";
import { paragraphAround, paragraphAt, runOf } from "./places.ts";
import {
  inTexts,
  replaceByParagraphs,
  replaceByText,
  setAttributes,
  type TextRange,
} from "./replace-text.ts";
import { attrsOf, paragraphOf } from "./schema.ts";

/**
 * Inserts text without formats, as one step of the history. Lines become paragraphs; empty lines
 * are left out. The text replaces the selection, or stands `at` a position. `instead` is a range
 * that is deleted in the same step, since the text was moved from there.
 */
export function insertPlainText(
  view: EditorView,
  text: string,
  base: Base,
  {
    at,
    instead,
  }: {
    readonly at?: number;
    readonly instead?: { readonly from: number; readonly to: number };
  } = {},
): void {
  const lines = linesOf(text);
  if (lines.length === 0) return;
  const { state } = view;
  const tr = beginStep(state);
  if (instead) replaceByText(tr, inTexts(tr.doc, instead.from, instead.to), "");
  const place = at === undefined ? undefined : tr.mapping.map(at);
  const range = place === undefined ? selectedRange(state) : inTexts(tr.doc, place, place);
  insertLines(tr, range, lines, base);
  view.dispatch(tr.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
}

/** Returns the lines of a text without control characters; a single line keeps its spaces. */
function linesOf(text: string): string[] {
  const lines = text
    .normalize("NFC")
    .split(/\r\n?|[\n\u2028\u2029]/)
    .map((line) => line.replaceAll(/(?!\t)\p{Cc}/gu, ""));
  return lines.length === 1
    ? lines.filter((line) => line !== "")
    : lines.filter((line) => line.trim() !== "");
}

/**
 * Replaces a range by lines. The sound before the range stays with the first line, the sound after
 * it with the last one, and the sound of the range itself goes to the second. Words that were cut
 * next to here take their sound with them.
 */
export function insertLines(
  tr: Transaction,
  range: TextRange,
  lines: readonly string[],
  base: Base,
): void {
  const { $from, $to } = range;
  const [first = ""] = lines;
  const last = lines.at(-1) ?? "";
  const length = tr.doc.content.size;
  const after = length - $to.pos;
  if (lines.length === 1) replaceByText(tr, range, first);
  else {
    const begin = attrsOf($from.parent);
    const end = attrsOf($to.parent);
    const from = edgeAt(base, paragraphOf($from.parent), $from.parentOffset);
    const to = Math.max(from, edgeAt(base, paragraphOf($to.parent), $to.parentOffset));
    const middle = lines.slice(1, -1).map((text, at): EditedParagraph => {
      return { text, speaker: begin.speaker, from: at === 0 ? from : to, to, isSoft: false };
    });
    const edge = middle.length > 0 ? to : from;
    replaceByParagraphs(tr, range, [
      { ...begin, text: first, to: from },
      ...middle,
      { ...end, text: last, from: edge, to: runOf($to.parent).to, isSoft: false },
    ]);
  }
  tr.setSelection(TextSelection.create(tr.doc, tr.doc.content.size - after));
  moveEdges(tr, paragraphAround(tr.selection.$head).index, lines.length, base);
}

/**
 * Moves the edges between the runs of paragraphs to which text was moved, and of those around them.
 * `last` is the index of the last paragraph that was inserted, and `count` their number.
 */
function moveEdges(tr: Transaction, last: number, count: number, base: Base): void {
  const isBlank = (index: number): boolean =>
    paragraphAt(tr.doc, index)?.node.textContent.trim() === "";
  let [from, to] = [last - count, last + 1];
  while (isBlank(from)) from -= 1;
  while (isBlank(to)) to += 1;
  const places = Array.from({ length: to - from + 1 }, (_, at) => paragraphAt(tr.doc, from + at));
  const some = places.filter((place) => place !== undefined);
  const edges = movedEdges(
    base,
    some.map(({ node }) => paragraphOf(node)),
  );
  for (const [at, { pos }] of edges ? some.entries() : []) {
    const edge = edges?.[at];
    const next = edges?.[at + 1];
    if (edge === undefined) continue;
    setAttributes(tr, pos, { from: edge, ...(next !== undefined && { to: next }) });
  }
}
