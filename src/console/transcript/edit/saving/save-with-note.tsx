import { useCallback, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { loadLater } from "../../../parts/load-later.tsx";
import { useText } from "../../../text/language.tsx";
import { editText } from "../../../text/transcript-edit.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import { useCommand } from "../keys/use-commands.ts";
import type { Save } from "../use-save.ts";

const NoteDialog = loadLater(() =>
  import("./note-dialog.tsx").then(({ NoteDialog }) => NoteDialog),
);

/** The button that saves a version with a note, and the dialog that asks for the note. */
export function SaveWithNote({
  editor,
  commands,
  save: { isUnsaved, save },
}: {
  readonly editor: Editor;
  readonly commands: Commands;
  readonly save: Save;
}) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const ask = useCallback(() => {
    // The key is always used, so that the browser does not save the page instead.
    if (!isUnsaved) return true;
    setOpen(true);
    // What is typed before the dialog is there does not change the text.
    editor.view.dom.blur();
    return true;
  }, [editor, isUnsaved]);
  useCommand(commands, "saveWithNote", ask);
  return (
    <>
      <Button look="quiet" isDisabled={!isUnsaved} onPress={ask}>
        {t(editText.saveWithNote)}
      </Button>
      {isOpen && (
        <NoteDialog
          onSave={(note) => save(undefined, note)}
          onClose={() => {
            setOpen(false);
            // The dialog holds the focus until it is gone.
            requestAnimationFrame(() => editor.view.focus());
          }}
        />
      )}
    </>
  );
}
