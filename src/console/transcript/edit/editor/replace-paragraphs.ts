import type { EditorState, Transaction } from "prosemirror-state";
import type { Replacement } from "../model/replacements.ts";
import { beginStep } from "./commands.ts";
import { replaceWords } from "./replace-words.ts";

/**
 * Returns a transaction that replaces paragraphs. Replacements are in order and do not overlap.
 */
export function replaceParagraphs(
  state: EditorState,
  replacements: readonly Replacement[],
): Transaction {
  const tr = beginStep(state);
  // From the end, so that the places before a change stay valid.
  for (const replacement of replacements.toReversed()) replaceWords(tr, replacement);
  return tr;
}
