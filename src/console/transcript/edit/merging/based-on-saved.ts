import { spokenTextSteps } from "../../spoken-text.ts";
import type { Editor } from "../editor/editor.ts";
import { baseOfSteps } from "../model/base.ts";
import { rebasedSteps } from "../model/rebase.ts";
import { areSameRetimings, noRetimings } from "../model/retimings.ts";
import { inSlices } from "../saving/in-slices.ts";
import type { SessionRef } from "../use-session-ref.ts";
import { replacementsInSteps } from "./replacements-in.ts";

/**
 * Makes the version that was saved last the base of the edited text, so that all words of it are
 * words of the base. Text, caret, scroll place, sound and history stay. Returns false if the base
 * stays: nothing was saved since it was opened, or the text has changed meanwhile.
 */
export async function basedOnSaved(editor: Editor, session: SessionRef): Promise<boolean> {
  const { saved } = session.read();
  const { base } = editor;
  const { segments, version } = saved;
  if (!segments || version === undefined || segments === base.segments) return false;
  const text = await inSlices(spokenTextSteps(segments));
  const savedBase = await inSlices(baseOfSteps(segments));
  const [paragraphs, retimings] = [editor.paragraphs(), editor.retimings()];
  const edited = { base, paragraphs, retimings, saved: savedBase };
  const rebased = await inSlices(rebasedSteps({ ...edited, savedRetimings: saved.retimings }));
  const replacements = await inSlices(replacementsInSteps(paragraphs, rebased));
  const isSame =
    session.read().saved === saved &&
    editor.base === base &&
    editor.paragraphs() === paragraphs &&
    areSameRetimings(editor.retimings(), retimings);
  if (!isSame || editor.view.composing) return false;
  session.change({
    ...session.read(),
    base: savedBase,
    openedVersion: version,
    text,
    saved: { ...saved, retimings: noRetimings },
  });
  const speakers = editor.speakers();
  editor.join({
    base: savedBase,
    text,
    edges: rebased.edges,
    replacements,
    speakers: { base: speakers, theirs: speakers, merged: speakers },
    retimings: rebased.retimings,
  });
  return true;
}
