import type { Node } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import { matchWords } from "../../../../std/word-matches/match-words.ts";
import { numbered } from "../model/align-tokens.ts";
import type { EditedParagraph } from "../model/base.ts";
import type { Replacement } from "../model/replacements.ts";
import { WordNumbers } from "../model/word-numbers.ts";
import { paragraphAt } from "./places.ts";
import { replaceByParagraphs, setAttributes, setPins, sliceOfText } from "./replace-text.ts";
import { attrsOf } from "./schema.ts";

/** A word of a paragraph with the space after it, or the edge between two paragraphs. */
interface Token {
  readonly text: string;
  /** Its range in the document. An edge reaches from the end of a text to the start of the next. */
  readonly from: number;
  readonly to: number;
}

/** Stands for the edge between two paragraphs. */
const edgeText = "\u0000";

/**
 * Replaces paragraphs in a transaction. Only the words that differ are replaced, so that caret and
 * selection keep their places, and so does what others change between them. If words move to a
 * neighboring paragraph, the edge between the two is moved and the words stay.
 */
export function replaceWords(tr: Transaction, replacement: Replacement): void {
  const { start, end, paragraphs } = replacement;
  if (paragraphs.length !== end - start) {
    replaceTokens(tr, replacement);
    return;
  }
  // Neighbors whose numbers of words both change may have exchanged words.
  let row: EditedParagraph[] = [];
  for (const [at, paragraph] of paragraphs.entries()) {
    const isDone = replaceEach(tr, start + at, paragraph);
    if (!isDone) row.push(paragraph);
    const rowEnd = isDone ? start + at : start + at + 1;
    if (row.length === 0 || (!isDone && at + 1 < paragraphs.length)) continue;
    replaceTokens(tr, { start: rowEnd - row.length, end: rowEnd, paragraphs: row });
    row = [];
  }
}

/**
 * Replaces the words of a paragraph one by one, and returns true; returns false if their number is
 * another.
 */
function replaceEach(tr: Transaction, index: number, paragraph: EditedParagraph): boolean {
  const { text, pins, ...attributes } = paragraph;
  const place = paragraphAt(tr.doc, index);
  if (!place) throw new RangeError(`no paragraph ${index}`);
  const before = place.node.textContent;
  if (before !== text) {
    const [old, words] = [wordsOf(before), wordsOf(text)];
    if (old.length !== words.length) return false;
    let to = place.pos + 1 + before.length;
    for (let at = words.length - 1; at >= 0; at -= 1) {
      const [one = "", word = ""] = [old[at], words[at]];
      if (one !== word) replaceText(tr, { from: to - one.length, before: one, text: word });
      to -= one.length;
    }
  }
  setPins(tr, place.pos, pins);
  setAttributes(tr, place.pos, attributes);
  return true;
}

/** Replaces the part of a text that differs. */
function replaceText(
  tr: Transaction,
  { from, before, text }: { readonly from: number; readonly before: string; readonly text: string },
): void {
  const { head, tail } = commonEnds(before, text);
  const slice = sliceOfText(text.slice(head, text.length - tail));
  tr.step(new ReplaceStep(from + head, from + before.length - tail, slice));
}

function replaceTokens(tr: Transaction, { start, end, paragraphs }: Replacement): void {
  const begin = (paragraphAt(tr.doc, start)?.pos ?? 1) + 1;
  const before = tokensOf(tr.doc, start, end);
  const after = paragraphs.flatMap(({ text }, at) =>
    at === 0 ? wordsOf(text) : [edgeText, ...wordsOf(text)],
  );
  const numbers = new WordNumbers();
  const matches = matchWords(
    numbered(
      before.map(({ text }) => text),
      numbers,
    ),
    numbered(after, numbers),
  );
  let [to, otherTo] = [before.length, after.length];
  for (let index = matches.before.length; index >= 0; index -= 1) {
    const at = matches.before[index - 1] ?? -1;
    const otherAt = matches.after[index - 1] ?? -1;
    if (at + 1 < to || otherAt + 1 < otherTo) {
      const range = { tokens: before.slice(at + 1, to), from: before[at]?.to ?? begin };
      replaceRange(tr, range, after.slice(otherAt + 1, otherTo).join(""));
    }
    [to, otherTo] = [at, otherAt];
  }
  for (const [at, { text: _text, pins, ...attributes }] of paragraphs.entries()) {
    const place = paragraphAt(tr.doc, start + at);
    if (!place) continue;
    setPins(tr, place.pos, pins);
    setAttributes(tr, place.pos, attributes);
  }
}

/** Returns the tokens of the paragraphs [start, end). */
function tokensOf(doc: Node, start: number, end: number): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (let index = start; index < end; index += 1) {
    const place = paragraphAt(doc, index);
    if (!place) throw new RangeError(`no paragraph ${index}`);
    if (index > start) tokens.push({ text: edgeText, from: at, to: place.pos + 1 });
    at = place.pos + 1;
    for (const text of wordsOf(place.node.textContent)) {
      tokens.push({ text, from: at, to: at + text.length });
      at += text.length;
    }
  }
  return tokens;
}

function wordsOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\s)(?=\S)/);
}

/** Replaces tokens, the first of which is at `from`, by a text in which edges are marked. */
function replaceRange(
  tr: Transaction,
  { tokens, from }: { readonly tokens: readonly Token[]; readonly from: number },
  after: string,
): void {
  const before = tokens.map(({ text }) => text).join("");
  const { head, tail } = commonEnds(before, after);
  const range = [head, before.length - tail].map((at) => positionIn(tokens, at) ?? from);
  const [$from, $to] = [tr.doc.resolve(range[0] ?? from), tr.doc.resolve(range[1] ?? from)];
  const texts = after.slice(head, after.length - tail).split(edgeText);
  if (texts.length === 1) {
    tr.step(new ReplaceStep($from.pos, $to.pos, sliceOfText(texts[0] ?? "")));
    return;
  }
  const own = attrsOf($from.parent);
  const paragraphs = texts.map((text) => ({ ...own, text }));
  replaceByParagraphs(tr, { $from, $to }, paragraphs);
}

/** Returns the position in the document of an offset in the text of tokens. */
function positionIn(tokens: readonly Token[], offset: number): number | undefined {
  let begin = 0;
  for (const { text, from, to } of tokens) {
    const end = begin + text.length;
    if (offset < end) return from + offset - begin;
    if (offset === end) return to;
    begin = end;
  }
  return undefined;
}

/** Returns the number of code units that two texts have in common at the start and at the end. */
function commonEnds(one: string, other: string): { head: number; tail: number } {
  const length = Math.min(one.length, other.length);
  let head = 0;
  while (head < length && one[head] === other[head]) head++;
  if (isLowSurrogate(one, head) || isLowSurrogate(other, head)) head--;
  let tail = 0;
  while (tail < length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail++;
  if (isLowSurrogate(one, one.length - tail) || isLowSurrogate(other, other.length - tail)) tail--;
  return { head: Math.max(0, head), tail: Math.max(0, tail) };
}

function isLowSurrogate(text: string, at: number): boolean {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at));
}
