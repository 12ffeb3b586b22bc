import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, offlineError } from "../../api/api-error.ts";
import { identityOf } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { useAnnounce } from "../../parts/announcer.tsx";
import { useText } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import { useChanged } from "../aside/use-changed.ts";
import type { EditSession } from "./edit-session.ts";
import { keepSession } from "./kept-sessions.ts";
import type { Editor } from "./editor/editor.ts";
import { type Joining, useJoin } from "./merging/use-join.ts";
import type { Base } from "./model/base.ts";
import type { DraftKeeper, DraftState } from "./saving/draft-keeper.ts";
import type { KeptDraft } from "./saving/kept-drafts.ts";
import { useDraft } from "./saving/use-draft.ts";
import { type SaveWait, useSaveWaits } from "./saving/use-save-waits.ts";
import { useLoaded } from "../use-loaded.ts";
import { versionToChange } from "./version-to-change.ts";
import { type SessionRef, useSessionRef } from "./use-session-ref.ts";

const loadSaving = () => import("./save-text.ts");

/** A part of the page that cannot be loaded is on the service, too. */
function throwOffline(): never {
  throw offlineError();
}

/** The longest wait for a draft to be stored, in ms. The service may not respond. */
const flushMs = 2_000;

/** The unsaved changes of a text, and how they are saved. */
export interface Save {
  readonly isUnsaved: boolean;
  readonly isSaving: boolean;
  readonly error: Error | null;
  /** Why saving has to wait, while it does. */
  readonly wait: SaveWait | undefined;
  /**
   * Saves the text as a version; `onSaved` is called if this succeeds. A save that waits is tried
   * again at once. The note is kept until a version is saved, also if the text has to be merged
   * first.
   */
  readonly save: (onSaved?: () => void, note?: string) => void;
  /** Forgets the unsaved changes, and their draft. */
  readonly discard: () => void;
  /**
   * Makes another draft the one that is opened next, and lets this one wait. Returns false if this
   * could not be stored; then nothing is changed.
   */
  readonly changeDraft: (to: KeptDraft) => Promise<boolean>;
  /** Keeps this draft on the service in place of one of another browser, which waits. */
  readonly keepDraft: () => void;
  /** Deletes a draft that waits. */
  readonly dropOther: (other: KeptDraft) => void;
  /**
   * Stores the draft, so that another tab of this browser can continue with it. Returns false if
   * the browser could not store it; then this tab must keep the text.
   */
  readonly handOver: () => Promise<boolean>;
  /** Whether a version is the one that was opened here, or was saved here. */
  readonly isKnown: (version: string) => boolean;
  /** Where the unsaved changes are kept. */
  readonly draft: DraftState;
  /** When the draft was last changed with which editing began; undefined if there was none. */
  readonly foundFrom: Date | undefined;
  /** How versions of others come into the text. */
  readonly joining: Joining;
}

/** The most times that a text is joined with versions of others before the user must save again. */
const joinsMax = 4;

/**
 * Saves an edited text. Changes that are not saved are kept while the user is on another page of
 * the console, and the browser asks before it closes the page.
 */
export function useSave(
  editor: Editor,
  {
    session: first,
    transcript,
    name,
  }: {
    /** What the editor has opened. */
    readonly session: EditSession;
    readonly transcript: TranscriptJson;
    readonly name: string;
  },
): Save {
  const t = useText();
  const announce = useAnnounce();
  const changed = useChanged(name);
  const { session, ref, isUnsaved } = useSessionRef(editor, first);
  const joining = useJoin(editor, ref, name);
  const { keeper, draft, foundFrom } = useDraft(editor, ref, name);
  const note = useRef(session.note);
  const owner = identityOf(useSession());
  const saving = useLoaded(loadSaving, false);
  const { wait, waitOut } = useSaveWaits(() => {
    const current = () => ({ ...ref.read(), ...textOf(editor), note: note.current });
    return saveJoined(current, joining, async (edited) => {
      const version = versionToChange(edited.saved, transcript);
      const { saveText } = saving ?? (await loadSaving().catch(throwOffline));
      return await saveText(name, edited, { version, owner });
    });
  });
  const mutation = useMutation({
    mutationFn: waitOut,
    onSuccess: (result) => {
      if (!result) return;
      ref.change(afterSaving(ref.read(), result));
      note.current = undefined;
      if (!ref.isUnsaved()) void keeper?.drop();
      changed(result.now);
      joining.forgetNote();
      announce(t(editText.savedAsVersion));
    },
  });
  const drafts = useKeptSession(editor, { session: ref, name, keeper });
  useLeaveQuestion(isUnsaved);
  const { mutate, isPending, error } = mutation;
  const whenSaved = useRef<() => void>(undefined);
  const save = (onSaved?: () => void, added?: string) => {
    note.current = added ?? note.current;
    whenSaved.current = onSaved ?? whenSaved.current;
    wait?.tryNow();
    if (isPending) return;
    mutate(undefined, {
      onSuccess: (result) => (result ? whenSaved.current?.() : undefined),
      onSettled: () => (whenSaved.current = undefined),
    });
  };
  const isKnown = useKnownVersions(versionToChange(session.saved, transcript));
  const isSaving = isPending;
  return {
    isUnsaved,
    isSaving,
    error,
    wait,
    save,
    ...drafts,
    isKnown,
    draft,
    foundFrom,
    joining,
  };
}

/** A version that was saved, the text that it has, and the version to which its words refer. */
interface SavedVersion {
  readonly now: TranscriptJson;
  readonly text: EditedText;
  readonly base: Base;
}

/** Returns a session of which a version was saved. */
function afterSaving(session: EditSession, { now, text, base }: SavedVersion): EditSession {
  const saved = { version: now.version?.name, segments: now.segments, ...text };
  // The version has what was joined before it, and not what was joined since.
  const isMerged = session.isMerged === true && session.base !== base;
  return { ...session, saved, isMerged };
}

/**
 * Saves a text; if others have saved a version meanwhile, it is joined with it first. Returns the
 * version and the text that it has; undefined if the user has to choose what comes in.
 */
async function saveJoined(
  current: () => EditSession,
  { join }: Joining,
  send: (edited: EditSession) => Promise<TranscriptJson>,
): Promise<SavedVersion | undefined> {
  for (let joins = 0; ; joins += 1) {
    const edited = current();
    try {
      const { base, paragraphs, speakers, retimings } = edited;
      return { now: await send(edited), base, text: { paragraphs, speakers, retimings } };
    } catch (error) {
      const isStale = error instanceof ApiError && error.reason === "VERSION_STALE";
      if (!isStale || joins === joinsMax) throw error;
      if (!(await join({ asks: true }))) return undefined;
    }
  }
}

/** Whether the draft is stored in this browser, or there is none. */
async function isKeptHere(keeper: DraftKeeper | undefined): Promise<boolean> {
  await Promise.race([keeper?.flush(), sleep(flushMs)]);
  const here = keeper?.state.here ?? "none";
  return here === "kept" || here === "none";
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Remembers the versions that were opened or saved here. */
function useKnownVersions(now: string | undefined): (version: string) => boolean {
  const [known, setKnown] = useState<ReadonlySet<string | undefined>>(() => new Set([now]));
  if (!known.has(now)) setKnown(new Set([...known, now]));
  return (version) => known.has(version);
}

/** What a version is made of. */
type EditedText = Pick<EditSession, "paragraphs" | "speakers" | "retimings">;

function textOf(editor: Editor): EditedText {
  const [paragraphs, speakers] = [editor.paragraphs(), editor.speakers()];
  return { paragraphs, speakers, retimings: editor.retimings() };
}

/**
 * Keeps the session when the text is closed with unsaved changes. Returns what can be done with the
 * draft instead.
 */
function useKeptSession(
  editor: Editor,
  {
    session,
    name,
    keeper,
  }: {
    readonly session: SessionRef;
    readonly name: string;
    readonly keeper: DraftKeeper | undefined;
  },
): Pick<Save, "discard" | "changeDraft" | "keepDraft" | "dropOther" | "handOver"> {
  const isDiscarded = useRef(false);
  const key = `${identityOf(useSession())} ${name}`;
  const latest = useRef({ session, key });
  useEffect(() => {
    latest.current = { session, key };
  });
  useEffect(
    () => () => {
      const { session, key } = latest.current;
      const isKept = !isDiscarded.current && session.isUnsaved();
      keepSession(key, isKept ? { session: { ...session.read(), ...textOf(editor) } } : undefined);
    },
    [editor],
  );
  return {
    discard: () => {
      isDiscarded.current = true;
      void keeper?.drop();
    },
    changeDraft: async (to) => {
      isDiscarded.current = (await keeper?.change(to)) ?? false;
      return isDiscarded.current;
    },
    keepDraft: () => void keeper?.keepThis(),
    dropOther: (other) => void keeper?.dropOther(other),
    handOver: async () => {
      if (await isKeptHere(keeper)) isDiscarded.current = true;
      return isDiscarded.current;
    },
  };
}

/** Lets the browser ask before it closes a page with unsaved changes. */
function useLeaveQuestion(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isUnsaved]);
}
