import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { identityOf } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import { FollowButton } from "../follow-button.tsx";
import type { Playback } from "../playback.ts";
import type { Presence } from "../presence/use-presence.ts";
import type { SpokenText } from "../spoken-text.ts";
import { EditBar } from "./edit-bar.tsx";
import { type EditSession, newSession } from "./edit-session.ts";
import { FindAndReplace } from "./finding/find-and-replace.tsx";
import { EditKeys } from "./keys/edit-keys.tsx";
import { useSaveCommand, useSpelling } from "./keys/use-page-commands.ts";
import { useCommands } from "./keys/use-commands.ts";
import { useEditSettings } from "./keys/use-edit-settings.ts";
import { keptSession } from "./kept-sessions.ts";
import type { Editor } from "./editor/editor.ts";
import { EditReview } from "./reviewing/edit-review.tsx";
import { SaveWithNote } from "./saving/save-with-note.tsx";
import { restoreScroll, type ScrollPlace } from "./scroll-place.ts";
import { EditSubtitles } from "./subtitles/edit-subtitles.tsx";
import { EditSpeakers } from "./speakers/edit-speakers.tsx";
import { EditTimes } from "./timing/edit-times.tsx";
import { useUnclear } from "./unclear/use-unclear.ts";
import { useEditedListening } from "./use-edited-listening.ts";
import { useEditor } from "./use-editor.ts";
import { PresenceNotes } from "./presence/presence-notes.tsx";
import { giveText, takeText, takeTextOver } from "./presence/tab-lock.ts";
import { useHandOver } from "./presence/use-hand-over.ts";
import { type Save, useSave } from "./use-save.ts";
import "../words.css";
import { loadLater } from "../../parts/load-later.tsx";
import "./edited-words.css";

const ClashDialog = loadLater(() =>
  import("./merging/clash-dialog.tsx").then(({ ClashDialog }) => ClashDialog),
);

export { findDraft } from "./saving/find-draft.ts";
export { giveText, takeText, takeTextOver };

interface EditedProps {
  /** Receives the element of the text. */
  readonly root: RefObject<HTMLDivElement | null>;
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly text: SpokenText;
  readonly playback: Playback | undefined;
  /** Where the user was in the text. */
  readonly place: ScrollPlace | undefined;
  /** The element in the picture that shows the current subtitle. */
  readonly caption: RefObject<HTMLElement | null>;
  /** What others do with the transcript. */
  readonly presence: Presence;
  readonly onEnd: () => void;
  /** Another tab of this browser edits the text from now on. */
  readonly onTaken: () => void;
  /** Opens the text again, with the draft that is current then. */
  readonly onReopen: () => void;
}

/** The text of a transcript while it is edited, in the shape in which it is read. */
export function EditedWords({ root, text, place, ...head }: EditedProps) {
  const { transcript, name, playback } = head;
  const t = useText();
  const key = `${identityOf(useSession())} ${name}`;
  const [session] = useState(() => keptSession(key)?.session ?? newSession(transcript, text));
  const { mount, editor } = useEditor(root, { session, playback, place });
  const { isFollowing, follow } = useEditedListening(editor, playback);
  // The bar over the text appears with the editor, and must not move the text.
  const before = useRef(place);
  useLayoutEffect(() => {
    if (editor && root.current && before.current) restoreScroll(root.current, before.current);
  }, [editor, root]);
  return (
    <section className="words editing" aria-label={t(transcriptText.textName)}>
      {editor && <EditHead {...head} editor={editor} session={session} />}
      <div className="words-text" data-region="text" ref={mount} />
      {playback && !isFollowing && <FollowButton playback={playback} onPress={follow} />}
    </section>
  );
}

function EditHead({
  editor,
  playback,
  session,
  transcript,
  name,
  caption,
  presence,
  onEnd,
  onTaken,
  onReopen,
}: Omit<EditedProps, "root" | "text" | "place"> & {
  readonly editor: Editor;
  readonly session: EditSession;
}) {
  const save = useSave(editor, { session, transcript, name });
  const { edit } = presence;
  useEffect(() => edit(() => editor.caretTime()), [edit, editor]);
  useHandOver(name, save, onTaken);
  const kept = useEditSettings();
  const commands = useCommands(editor, playback, kept.settings);
  useSaveCommand(commands, save);
  useSpelling(editor, commands, kept);
  useUnclear(editor, commands, kept.settings);
  return (
    <>
      <EditBar
        editor={editor}
        commands={commands}
        save={save}
        name={name}
        onEnd={onEnd}
        onReopen={onReopen}
        notes={<PresenceNotes {...{ editor, save, presence, name }} />}
      >
        <EditReview {...{ editor, playback, commands, name, transcript }} />
        <EditSpeakers editor={editor} commands={commands} />
        <FindAndReplace editor={editor} playback={playback} commands={commands} />
        <EditSubtitles {...{ editor, playback, commands, transcript, caption }} />
        <EditTimes {...{ editor, playback, commands }} />
        <EditKeys editor={editor} playback={playback} commands={commands} kept={kept} />
        <SaveWithNote editor={editor} commands={commands} save={save} />
      </EditBar>
      <Clashes editor={editor} save={save} playback={playback} />
    </>
  );
}

/** Asks what to take where both have changed the same, and saves the text with the answers. */
function Clashes({
  editor,
  save: { joining, save },
  playback,
}: {
  readonly editor: Editor;
  readonly save: Save;
  readonly playback: Playback | undefined;
}) {
  const { asked } = joining;
  if (!asked) return null;
  return (
    <ClashDialog
      asked={asked}
      speakers={editor.speakers()}
      playback={playback}
      onClose={joining.putOff}
      onChosen={(choices) => {
        if (joining.choose(choices)) save();
      }}
    />
  );
}
