import type { WordTimes } from "../model/retimings.ts";
import { beginStep, type EditCommand } from "./commands.ts";
import { RetimeStep } from "./retime-step.ts";
import { numberingOf } from "./schema.ts";

/** Sets the times of a word of the base. It is undone on its own. */
export function setWordTimes(word: number, before: WordTimes, after: WordTimes): EditCommand {
  return (state, dispatch) => {
    if (before.startTime === after.startTime && before.endTime === after.endTime) return false;
    const edge = numberingOf(state.doc).edge(word);
    dispatch?.(beginStep(state).step(new RetimeStep(edge, before, after)));
    return true;
  };
}
