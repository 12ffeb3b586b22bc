import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { spokenTextSteps } from "../../spoken-text.ts";
import { type EditSession, newSession } from "../edit-session.ts";
import type { Editor } from "../editor/editor.ts";
import { type Base, baseOfSteps, type EditedParagraph } from "../model/base.ts";
import type { Retimings } from "../model/retimings.ts";
import { inSlices } from "../saving/in-slices.ts";
import { transcriptFrom } from "../saving/transcript-from.ts";
import type { SessionRef } from "../use-session-ref.ts";
import type { Replacement } from "../model/replacements.ts";
import { afterChoices, type Choice } from "./after-choices.ts";
import { type JoinedText, joinedTextSteps } from "./joined-text.ts";
import { replacementsIn } from "./replacements-in.ts";

/** A version of others, and the edited text with its changes, before it is in the editor. */
export interface Joinable {
  /** The version as it would be opened. */
  readonly theirs: EditSession;
  readonly current: TranscriptJson;
  /** The paragraphs that were edited when the version was compared with them. */
  readonly before: readonly EditedParagraph[];
  readonly retimings: Retimings;
  /** The version that was edited then. */
  readonly base: Base;
  readonly joined: JoinedText;
  /** Returns what has to be replaced after the user has chosen for each clash. */
  readonly replacementsAfter: (choices: readonly Choice[]) => readonly Replacement[];
}

/** Compares the edited text with the current version. Returns undefined if that is the base. */
export async function comparedWithCurrent(
  editor: Editor,
  session: SessionRef,
  { name, owner }: { readonly name: string; readonly owner: string },
): Promise<Joinable | undefined> {
  const current = await transcriptFrom(`/v1alpha1/${name}`, { owner });
  if (session.read().saved.version === current.version?.name) return undefined;
  const { segments: all = [] } = current;
  // Long texts take hundreds of milliseconds, in which keys would wait.
  const text = await inSlices(spokenTextSteps(all));
  const theirs = newSession(current, text, await inSlices(baseOfSteps(all)));
  const { saved } = session.read();
  const before = editor.paragraphs();
  const retimings = editor.retimings();
  const { segments } = saved;
  const { base } = editor;
  const mine = {
    base,
    paragraphs: before,
    retimings,
    saved: segments && { segments, retimings: saved.retimings },
  };
  const joined = await inSlices(joinedTextSteps(mine, theirs.base));
  const replacementsAfter = (choices: readonly Choice[]): readonly Replacement[] => {
    const paragraphs = afterChoices(joined.paragraphs, joined.clashes, choices);
    return replacementsIn(before, { edges: joined.edges, paragraphs });
  };
  return { theirs, current, before, retimings, base, joined, replacementsAfter };
}
