import { useCallback, useRef, useState } from "react";
import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { identityOf } from "../../../api/session.ts";
import { useSession } from "../../../api/use-session.ts";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { useText } from "../../../text/language.tsx";
import { presenceText } from "../../../text/transcript-presence.ts";
import { useChanged } from "../../aside/use-changed.ts";
import type { Editor } from "../editor/editor.ts";
import type { EditedParagraph } from "../model/base.ts";
import { mergedSpeakers } from "../model/merged-speakers.ts";
import { areSameRetimings } from "../model/retimings.ts";
import type { Replacement } from "../model/replacements.ts";
import type { Choice } from "./after-choices.ts";
import type { Joinable } from "./compared-with-current.ts";
import type { JoinedText } from "./joined-text.ts";
import { joinedSince } from "./joined-since.ts";
import { changedCount } from "./changed-count.ts";
import { useLoaded } from "../../use-loaded.ts";
import type { SessionRef } from "../use-session-ref.ts";

const loadCompared = () => import("./compared-with-current.ts");

/** How long after a change in the same place the texts are compared again. */
const againMs = 300;

/** How long a version waits each time while the user composes characters, in ms. */
const composedMs = 200;

/** What came into the text from others. */
export interface JoinNote {
  /** Who saved the version; "" if this is not known. */
  readonly who: string;
  /** The number of paragraphs that they have changed. */
  readonly paragraphs: number;
  /** The number of places that both have changed, which have to be chosen. */
  readonly clashes: number;
}

/** How versions of others come into the text that is edited. */
export interface Joining {
  /**
   * Brings the current version into the text. Returns false if both have changed the same: then
   * nothing comes in, and the user is asked what to take if `asks` is set.
   */
  readonly join: (options: { readonly asks: boolean }) => Promise<boolean>;
  /** What came in last, or what cannot come in before the user has chosen. */
  readonly note: JoinNote | undefined;
  readonly forgetNote: () => void;
  /** What the user is asked about. */
  readonly asked: Joinable | undefined;
  /**
   * Brings the version in with what the user has chosen of each clash. Returns false if the text
   * has changed since the user was asked; then the user is asked again about what it is now.
   */
  readonly choose: (choices: readonly Choice[]) => boolean;
  readonly putOff: () => void;
}

/** Brings the versions that others save into the open editor. */
export function useJoin(editor: Editor, session: SessionRef, name: string): Joining {
  const t = useText();
  const announce = useAnnounce();
  const changed = useChanged(name);
  const owner = identityOf(useSession());
  const [note, setNote] = useState<JoinNote>();
  const [asked, setAsked] = useState<Joinable>();
  useLoaded(loadCompared, false);
  const running = useRef<Promise<Joinable | undefined>>(undefined);
  const enter = ({ theirs, current, joined }: Joinable, replacements: readonly Replacement[]) => {
    const note = noteOf(current, { ...joined, replacements }, editor.paragraphs());
    enterText(editor, session, { theirs, joined, replacements });
    setAsked(undefined);
    // The rest of the page has a task of its own.
    setTimeout(() => {
      changed(current);
      setNote({ ...note, clashes: 0 });
      announce(t(presenceText.joined)(note.who, note.paragraphs));
    });
  };
  const join = async ({ asks }: { readonly asks: boolean }): Promise<boolean> => {
    running.current ??= loadCompared()
      .then(
        async ({ comparedWithCurrent }) =>
          await comparedWithCurrent(editor, session, { name, owner }),
      )
      .finally(() => {
        running.current = undefined;
      });
    const joinable = await running.current;
    // What comes into the text has a task of its own.
    await sleep(0);
    while (editor.view.composing) await sleep(composedMs);
    if (!joinable) return true;
    const { joined, before, current } = joinable;
    if (session.read().saved.version === current.version?.name) return true;
    if (joined.clashes.length > 0) {
      setNote(noteOf(current, joined, before));
      if (asks) setAsked(joinable);
      return false;
    }
    const replacements = replacementsNow(editor, joinable, joined.replacements);
    // What was changed meanwhile is in the same place, so the texts are compared again.
    if (!replacements) {
      await sleep(againMs);
      return await join({ asks });
    }
    enter(joinable, replacements);
    return true;
  };
  const choose = (choices: readonly Choice[]): boolean => {
    if (!asked) return false;
    const replacements = replacementsNow(editor, asked, asked.replacementsAfter(choices));
    if (replacements) enter(asked, replacements);
    else void join({ asks: true });
    return replacements !== undefined;
  };
  const forgetNote = useCallback(() => setNote(undefined), []);
  const putOff = useCallback(() => setAsked(undefined), []);
  return { join, note, forgetNote, asked, choose, putOff };
}

/**
 * Moves replacements to the text as it is now. Returns undefined if what they replace, or the
 * version that is edited, has changed since the text was compared.
 */
function replacementsNow(
  editor: Editor,
  { base, before, retimings }: Joinable,
  replacements: readonly Replacement[],
): readonly Replacement[] | undefined {
  if (editor.base !== base || !areSameRetimings(retimings, editor.retimings())) return undefined;
  return joinedSince(replacements, before, editor.paragraphs());
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function noteOf(
  { version }: TranscriptJson,
  { replacements, clashes }: Pick<JoinedText, "replacements" | "clashes">,
  before: readonly EditedParagraph[],
): JoinNote {
  const paragraphs = changedCount(before, replacements);
  return { who: version?.authorName ?? "", paragraphs, clashes: clashes.length };
}

/** Replaces the base of a session and of its editor. */
function enterText(
  editor: Editor,
  session: SessionRef,
  {
    theirs,
    joined: { edges, retimings },
    replacements,
  }: Pick<Joinable, "theirs" | "joined"> & { readonly replacements: readonly Replacement[] },
): void {
  const before = session.read();
  const { base, text } = theirs;
  const isMine = session.isUnsaved();
  session.change({
    ...theirs,
    isMerged: before.isMerged === true || isMine,
    languageCode: before.languageCode,
  });
  const merged = mergedSpeakers({
    base: before.saved.speakers,
    mine: editor.speakers(),
    theirs: theirs.speakers,
  });
  const speakers = { base: before.saved.speakers, theirs: theirs.speakers, merged };
  editor.join({ base, text, edges, replacements, speakers, retimings });
}
