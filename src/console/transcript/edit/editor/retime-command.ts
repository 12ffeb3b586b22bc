import type { Transaction } from "prosemirror-state";
import type { WordTimes } from "../model/retimings.ts";
import { beginStep, continueStep, type EditCommand } from "./commands.ts";
import { RetimeStep } from "./retime-step.ts";
import { numberingOf } from "./schema.ts";

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
