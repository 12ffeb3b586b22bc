import type { Base } from "../model/base.ts";
import { recognized } from "../model/recognized.ts";
import { withoutOwn } from "../model/retimings.ts";
import type { EditCommand } from "./commands.ts";
import { paragraphAt } from "./places.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { RetimeStep } from "./retime-step.ts";
import { numberingOf, paragraphOf, retimingsOf } from "./schema.ts";

/**
 * Puts the paragraph at an index back to the words and the times of its run, in one step. Returns
 * false if it has no run.
 */
export function restoreParagraph(base: Base, index: number): EditCommand {
  return (state, dispatch) => {
    const place = paragraphAt(state.doc, index);
    const paragraph = place && paragraphOf(place.node);
    const before = paragraph && recognized(base, paragraph);
    if (!before) return false;
    const isSame = before.text === paragraph.text;
    const replacement = { start: index, end: index + 1, paragraphs: [before] };
    const tr = replaceParagraphs(state, isSame ? [] : [replacement]);
    for (const [word, times] of withoutOwn(base, retimingsOf(state.doc))) {
      const { startTime = times.startTime, endTime = times.endTime } = base.words[word] ?? {};
      if (word < before.from || word >= before.to) continue;
      tr.step(new RetimeStep(numberingOf(tr.doc).edge(word), times, { startTime, endTime }));
    }
    if (tr.docChanged) dispatch?.(tr);
    return true;
  };
}
