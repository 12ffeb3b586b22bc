import { closeHistory } from "prosemirror-history";
import { type Fragment, Slice } from "prosemirror-model";
import { type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import type { Base, EditedParagraph } from "../model/base.ts";
import { edgeAt } from "../model/divide.ts";
import { paragraphAround, paragraphAt } from "./places.ts";
import {
  inTexts,
  replaceByText,
  setAttributes,
  sliceOfText,
  type TextRange,
} from "./replace-text.ts";
import { numberingOf, paragraphOf, schema } from "./schema.ts";

/**
 * A change that the user asks for. Returns whether it applies; `dispatch` receives the transaction.
 */
export type EditCommand = (state: EditorState, dispatch?: (tr: Transaction) => void) => boolean;

/** Returns the selection as a range in texts. */
export function selectedRange({ doc, selection }: EditorState): TextRange {
  return inTexts(doc, selection.from, selection.to);
}

/**
 * Begins a transaction that is undone on its own: what is typed before and after it are other steps
 * of the history.
 */
export function beginStep({ tr }: EditorState): Transaction {
  return closeHistory(tr).setMeta(ownStep, true);
}

/** Begins a transaction that is undone together with an earlier one, which beginStep has begun. */
export function continueStep({ tr }: EditorState, first: Transaction): Transaction {
  return tr.setMeta("appendedTransaction", first).setMeta(ownStep, true);
}

/** Whether a transaction was begun by continueStep. */
export function isContinued(tr: Transaction): boolean {
  return tr.getMeta("appendedTransaction") !== undefined;
}

/** Whether a transaction was begun by beginStep or continueStep. */
export function isOwnStep(tr: Transaction): boolean {
  return tr.getMeta(ownStep) === true;
}

const ownStep = "hlust.ownStep";

/**
 * Divides the paragraph at the caret, and its sound with it. A space at the caret stays with the
 * words before it.
 */
export function divide(base: Base): EditCommand {
  return (state, dispatch) => {
    if (!dispatch) return true;
    const tr = beginStep(state);
    const range = selectedRange(state);
    if (range.$from.pos < range.$to.pos) replaceByText(tr, range, "");
    const $caret = tr.doc.resolve(range.$from.pos);
    const { parent: node, parentOffset } = $caret;
    const space = /^\s*/.exec(node.textContent.slice(parentOffset))?.[0].length ?? 0;
    const isAtEnd = parentOffset + space === node.content.size;
    const offset = isAtEnd || parentOffset === 0 ? parentOffset : parentOffset + space;
    const edge = edgeAt(base, paragraphOf(node), offset);
    const at = $caret.start() + offset;
    const from = numberingOf(tr.doc).edge(edge);
    const attrs = { ...node.attrs, from, isSoft: false };
    tr.split(at, 1, [{ type: schema.nodes["paragraph"] ?? node.type, attrs }]);
    setAttributes(tr, $caret.before(2), { to: edge });
    tr.setSelection(TextSelection.create(tr.doc, at + 2));
    dispatch(tr.scrollIntoView());
    return true;
  };
}

/** Deletes the selection, if it is not empty. Paragraphs whose edge is deleted become one. */
export const deleteSelected: EditCommand = (state, dispatch) =>
  deleteIn(state, beginStep(state), dispatch);

/** Deletes the selection as the beginning of a step: what is typed instead belongs to it. */
export const typeOverSelected: EditCommand = (state, dispatch) =>
  deleteIn(state, closeHistory(state.tr), dispatch);

function deleteIn(
  state: EditorState,
  tr: Transaction,
  dispatch: ((tr: Transaction) => void) | undefined,
): boolean {
  if (state.selection.empty) return false;
  if (!dispatch) return true;
  const range = selectedRange(state);
  replaceByText(tr, range, "");
  tr.setSelection(TextSelection.create(tr.doc, range.$from.pos));
  dispatch(tr.scrollIntoView());
  return true;
}

/** Joins the paragraph to the previous one, if the caret is at its start. */
export function mergeBack(base: Base): EditCommand {
  return (state, dispatch) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.depth < 2 || $from.parentOffset > 0) return false;
    return merge(base, paragraphAround($from).index - 1)(state, dispatch);
  };
}

/** Joins the next paragraph to this one, if the caret is at its end. */
export function mergeForward(base: Base): EditCommand {
  return (state, dispatch) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.depth < 2 || $from.parentOffset < $from.parent.content.size) return false;
    return merge(base, paragraphAround($from).index)(state, dispatch);
  };
}

/** Joins the paragraph at an index with the next one; the caret is where they meet. */
function merge(base: Base, index: number): EditCommand {
  return (state, dispatch) => {
    const first = paragraphAt(state.doc, index);
    const second = paragraphAt(state.doc, index + 1);
    if (!first || !second) return false;
    if (!dispatch) return true;
    const tr = beginStep(state);
    const end = first.pos + 1 + first.node.content.size;
    const range = { $from: state.doc.resolve(end), $to: state.doc.resolve(second.pos + 1) };
    const isOneWord = isDividedWord(base, paragraphOf(first.node), paragraphOf(second.node));
    const space = replaceByText(tr, range, "", { isOneWord });
    tr.setSelection(TextSelection.create(tr.doc, end + space));
    dispatch(tr.scrollIntoView());
    return true;
  };
}

/** Whether a word of the base was divided between two paragraphs. */
function isDividedWord(base: Base, one: EditedParagraph, next: EditedParagraph): boolean {
  const [before = ""] = /\S+$/.exec(one.text) ?? [];
  const [after = ""] = /^\S+/.exec(next.text) ?? [];
  if (before === "" || after === "") return false;
  return [one.to - 1, one.to].some((word) => base.words[word]?.word?.trim() === before + after);
}

/**
 * Moves the words before the caret to the end of the previous paragraph, with their sound. A word
 * in which the caret stands stays.
 */
export function moveWordsBack(base: Base): EditCommand {
  return (state, dispatch) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.depth < 2) return false;
    const here = paragraphAround($from);
    const previous = paragraphAt(state.doc, here.index - 1);
    const text = here.node.textContent;
    const cut = text.slice(0, $from.parentOffset).search(/\S*$/);
    const isInWord = /\S/.test(text.charAt($from.parentOffset)) && cut < $from.parentOffset;
    const offset = isInWord ? cut : $from.parentOffset + leadingSpace(text, $from.parentOffset);
    if (!previous || text.slice(0, offset).trim() === "") return false;
    if (offset === text.length) return merge(base, previous.index)(state, dispatch);
    if (!dispatch) return true;
    const edge = edgeAt(base, paragraphOf(here.node), offset);
    const tr = beginStep(state);
    const start = here.pos + 1;
    tr.step(new ReplaceStep(start, start + offset, sliceOfText("")));
    const end = previous.pos + 1 + previous.node.content.size;
    const before = previous.node.textContent;
    const space = before === "" || /\s$/.test(before) ? "" : " ";
    const moved = textFragment(space).append(here.node.content.cut(0, offset));
    tr.step(new ReplaceStep(end, end, new Slice(moved, 0, 0)));
    const added = tr.mapping.map(here.pos);
    setAttributes(tr, previous.pos, { to: edge });
    setAttributes(tr, added, { from: edge });
    tr.setSelection(TextSelection.create(tr.doc, added + 1));
    dispatch(tr.scrollIntoView());
    return true;
  };
}

/**
 * Moves the words after the caret to the start of the next paragraph, with their sound. A word in
 * which the caret stands stays.
 */
export function moveWordsForward(base: Base): EditCommand {
  return (state, dispatch) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.depth < 2) return false;
    const here = paragraphAround($from);
    const next = paragraphAt(state.doc, here.index + 1);
    const text = here.node.textContent;
    const isInWord = /\S$/.test(text.slice(0, $from.parentOffset));
    const rest = isInWord ? (/^\S*/.exec(text.slice($from.parentOffset))?.[0].length ?? 0) : 0;
    const cut = $from.parentOffset + rest;
    const offset = cut + leadingSpace(text, cut);
    const moved = text.slice(offset);
    if (!next || moved.trim() === "") return false;
    if (text.slice(0, offset).trim() === "") return merge(base, here.index)(state, dispatch);
    if (!dispatch) return true;
    const edge = edgeAt(base, paragraphOf(here.node), offset);
    const tr = beginStep(state);
    const start = next.pos + 1;
    const space = /\s$/.test(moved) || next.node.childCount === 0 ? "" : " ";
    const inserted = here.node.content.cut(offset).append(textFragment(space));
    tr.step(new ReplaceStep(start, start, new Slice(inserted, 0, 0)));
    const from = here.pos + 1 + offset;
    tr.step(new ReplaceStep(from, from + moved.length, sliceOfText("")));
    setAttributes(tr, here.pos, { to: edge });
    setAttributes(tr, next.pos - moved.length, { from: edge });
    tr.setSelection(TextSelection.create(tr.doc, here.pos + 1 + $from.parentOffset));
    dispatch(tr.scrollIntoView());
    return true;
  };
}

function leadingSpace(text: string, offset: number): number {
  return /^\s*/.exec(text.slice(offset))?.[0].length ?? 0;
}

function textFragment(text: string): Fragment {
  return sliceOfText(text).content;
}

/** Selects all of the text. */
export const selectAll: EditCommand = ({ doc, tr }, dispatch) => {
  dispatch?.(tr.setSelection(TextSelection.create(doc, 2, doc.content.size - 2)));
  return true;
};

/**
 * Moves the caret to the start or the end of the text, or extends the selection to it. Browsers do
 * not find the end in a part that is not laid out.
 */
export function moveToEnd(
  direction: -1 | 1,
  { isExtended = false }: { readonly isExtended?: boolean } = {},
): EditCommand {
  return ({ doc, tr, selection }, dispatch) => {
    const head = direction === -1 ? 2 : doc.content.size - 2;
    const anchor = isExtended ? selection.anchor : head;
    dispatch?.(tr.setSelection(TextSelection.create(doc, anchor, head)).scrollIntoView());
    return true;
  };
}
