import type { Transaction } from "prosemirror-state";
import type { WordTimes } from "../model/retimings.ts";
import { beginStep, continueStep, type EditCommand } from "./commands.ts";
import { paragraphAt } from "./places.ts";
import { RetimeStep } from "./retime-step.ts";
import { markOf, numberingOf } from "./schema.ts";

/**
 * Sets the times of a word of the base. It is undone on its own, or together with `first`, which
 * has set times before.
 */
export function setWordTimes(
  word: number,
  before: WordTimes,
  after: WordTimes,
  first?: Transaction,
): EditCommand {
  return (state, dispatch) => {
    if (before.startTime === after.startTime && before.endTime === after.endTime) return false;
    const edge = numberingOf(state.doc).edge(word);
    const tr = first ? continueStep(state, first) : beginStep(state);
    dispatch?.(tr.step(new RetimeStep(edge, before, after)));
    return true;
  };
}

/**
 * Sets the times of a word that was typed, whose place in the text of a paragraph is given, by a
 * pin. It is undone as those of a word of the base.
 */
export function pinWordTimes(
  {
    paragraph,
    from,
    to,
  }: { readonly paragraph: number; readonly from: number; readonly to: number },
  times: WordTimes,
  first?: Transaction,
): EditCommand {
  return (state, dispatch) => {
    const place = paragraphAt(state.doc, paragraph);
    if (!place) return false;
    const start = place.pos + 1;
    const tr = first ? continueStep(state, first) : beginStep(state);
    tr.addMark(start + from, start + to, markOf(times));
    if (!tr.docChanged) return false;
    dispatch?.(tr);
    return true;
  };
}
