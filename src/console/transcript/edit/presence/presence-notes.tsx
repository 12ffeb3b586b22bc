import { useEffect, useRef, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { useText } from "../../../text/language.tsx";
import { presenceText } from "../../../text/transcript-presence.ts";
import type { Editor } from "../editor/editor.ts";
import type { Save } from "../use-save.ts";
import { saveAsFile } from "../saving/save-as-file.ts";
import { People } from "../../presence/people.tsx";
import type { Presence } from "../../presence/use-presence.ts";

interface NotesProps {
  readonly editor: Editor;
  readonly save: Save;
  readonly presence: Presence;
  /** The name of the transcript. */
  readonly name: string;
}

/** What others do with the text that is edited, under the buttons of its bar. */
export function PresenceNotes(props: NotesProps) {
  const { presence, editor, name } = props;
  if (presence.isDeleted) return <DeletedNote editor={editor} name={name} />;
  return (
    <>
      <People others={presence.others} />
      <VersionNote {...props} />
    </>
  );
}

/**
 * Brings versions that others save into the text as they come, and says so. Where both have changed
 * the same, it asks for a choice, which can wait.
 */
function VersionNote({ save, presence: { version } }: NotesProps) {
  const t = useText();
  const { joining, isSaving, isKnown } = save;
  const { note } = joining;
  const id = version?.name ?? "";
  const isNew = id !== "" && !isSaving && !isKnown(id);
  const [failed, setFailed] = useState("");
  const tried = useRef("");
  const { join } = joining;
  useEffect(() => {
    if (!isNew || tried.current === id) return;
    tried.current = id;
    join({ asks: false }).catch(() => setFailed(id));
  }, [isNew, id, join]);
  const who = version?.authorName ?? "";
  // Without a connection the version comes in when the text is saved.
  if (isNew && failed === id) return <div className="note">{t(presenceText.joinsLater)(who)}</div>;
  if (!note) return null;
  if (note.clashes === 0) {
    return <div className="note">{t(presenceText.joined)(note.who, note.paragraphs)}</div>;
  }
  return (
    <div className="note">
      <span>{t(presenceText.clashes)(note.who, note.clashes)}</span>
      <Button onPress={() => void join({ asks: true })}>{t(presenceText.choose)}</Button>
    </div>
  );
}

function DeletedNote({ editor, name }: { readonly editor: Editor; readonly name: string }) {
  const t = useText();
  return (
    <div className="note problem" role="alert">
      <span>{t(presenceText.deleted)}</span>
      <Button onPress={() => saveAsFile(editor, name)}>{t(presenceText.saveText)}</Button>
    </div>
  );
}
