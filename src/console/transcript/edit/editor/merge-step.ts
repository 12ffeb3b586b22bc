import type { EditorState, Transaction } from "prosemirror-state";
import type { Replacement } from "../model/replacements.ts";
import { replaceWords } from "./replace-words.ts";

/**
 * Returns a transaction that brings the changes of others into the text. Only the words that differ
 * are replaced, so that the caret and what can be undone keep their places. It is not in the
 * history. Replacements are in order and do not overlap.
 */
export function mergeStep(state: EditorState, replacements: readonly Replacement[]): Transaction {
  const tr = state.tr.setMeta("addToHistory", false);
  // From the end, so that the places before a change stay valid.
  for (const replacement of replacements.toReversed()) replaceWords(tr, replacement);
  return tr;
}
