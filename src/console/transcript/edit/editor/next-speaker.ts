import type { Base } from "../model/base.ts";
import { divide, type EditCommand } from "./commands.ts";
import { paragraphAround, paragraphAt } from "./places.ts";
import { setAttributes } from "./replace-text.ts";
import { paragraphsOf, speakersOf } from "./schema.ts";
import { freeSpeakerId } from "./speaker-commands.ts";
import type { Node } from "prosemirror-model";

/**
 * Divides the paragraph at the caret. What follows the caret is said by the other one of the last
 * two speakers; if there is only one speaker so far, by any other one, or by a new one.
 */
export function divideForNextSpeaker(base: Base): EditCommand {
  return (state, dispatch) =>
    divide(base)(
      state,
      dispatch &&
        ((tr) => {
          const { index, pos } = paragraphAround(tr.selection.$from);
          setAttributes(tr, pos, { speaker: nextSpeaker(tr.doc, index - 1) });
          const next = paragraphAt(tr.doc, index + 1);
          if (next) setAttributes(tr, next.pos, { isSoft: false });
          dispatch(tr);
        }),
    );
}

/** Returns who speaks after the paragraph at an index. */
function nextSpeaker(doc: Node, index: number): string {
  const said = paragraphsOf(doc).map(({ speaker }) => speaker);
  const now = said[index];
  const isOther = (id: string): boolean => id !== now && id !== "";
  return (
    said.slice(0, Math.max(0, index)).findLast(isOther) ??
    said.find(isOther) ??
    Object.keys(speakersOf(doc)).find(isOther) ??
    freeSpeakerId(doc)
  );
}
