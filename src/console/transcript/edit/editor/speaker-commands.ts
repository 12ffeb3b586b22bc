import type { SpeakerInfoJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { beginStep, type EditCommand } from "./commands.ts";
import { paragraphAt } from "./places.ts";
import { setAttributes, speakerOf } from "./replace-text.ts";
import { paragraphsOf, speakersOf } from "./schema.ts";
import type { Node } from "prosemirror-model";

/**
 * Sets the speaker of the paragraph at an index, or of all paragraphs that have its speaker.
 * `added` is the entry of a speaker that is new; it is added in the same step.
 */
export function setSpeaker(
  index: number,
  speaker: string,
  { ofAll = false, added }: { readonly ofAll?: boolean; readonly added?: SpeakerInfoJson } = {},
): EditCommand {
  return (state, dispatch) => {
    const place = paragraphAt(state.doc, index);
    if (!place || speakerOf(place.node) === speaker) return false;
    if (!dispatch) return true;
    const tr = beginStep(state);
    if (added) tr.setDocAttribute("speakers", { ...speakersOf(state.doc), [speaker]: added });
    if (ofAll) {
      const before = speakerOf(place.node);
      state.doc.descendants((node, pos) => {
        if (node.type.name !== "paragraph") return true;
        if (speakerOf(node) === before) setAttributes(tr, pos, { speaker });
        return false;
      });
    } else {
      // Another speaker is another segment.
      setAttributes(tr, place.pos, { speaker, isSoft: false });
      const next = paragraphAt(state.doc, index + 1);
      if (next) setAttributes(tr, next.pos, { isSoft: false });
    }
    dispatch(tr);
    return true;
  };
}

/** Gives a speaker another name; "" removes the name. */
export function nameSpeaker(id: string, fullName: string): EditCommand {
  return (state, dispatch) => {
    const named = new Map(Object.entries(speakersOf(state.doc)));
    if ((named.get(id)?.fullName ?? "") === fullName) return false;
    if (fullName === "") named.delete(id);
    else named.set(id, { ...named.get(id), fullName });
    dispatch?.(beginStep(state).setDocAttribute("speakers", Object.fromEntries(named)));
    return true;
  };
}

/** Returns an id that no speaker of the document has: the lowest number that is free. */
export function freeSpeakerId(doc: Node): string {
  const used = new Set([
    ...Object.keys(speakersOf(doc)),
    ...paragraphsOf(doc).map(({ speaker }) => speaker),
  ]);
  for (let id = 1; ; id++) if (!used.has(String(id))) return String(id);
}
