import { type FormEvent, useState } from "react";
import { charCount } from "../../../api/metadata-limits.ts";
import { Button } from "../../../parts/button.tsx";
import { DialogBox } from "../../../parts/dialog-box.tsx";
import { TextInput } from "../../../parts/text-input.tsx";
import { commonText } from "../../../text/common.ts";
import { useText } from "../../../text/language.tsx";
import { asideDialogText } from "../../../text/aside-dialogs.ts";
import { editText } from "../../../text/transcript-edit.ts";

/** The longest note of a version, in Unicode characters (docs/api.md, Transcripts). */
const noteCharsMax = 1_000;

/** Asks for the note of a version. */
export function NoteDialog({
  onSave,
  onClose,
}: {
  readonly onSave: (note: string) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const [note, setNote] = useState("");
  const over = charCount(note) - noteCharsMax;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (over > 0) return;
    onSave(note.trim());
    onClose();
  };
  return (
    <DialogBox title={t(editText.noteTitle)} isOpen onClose={onClose}>
      <form onSubmit={send}>
        <TextInput
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
          autoFocus
          label={t(editText.note)}
          hint={t(editText.noteHint)}
          value={note}
          onChange={setNote}
          problem={over > 0 ? t(asideDialogText.tooLong)(over, noteCharsMax) : undefined}
          autoComplete="off"
        />
        <div className="dialog-actions">
          <Button onPress={onClose}>{t(commonText.cancel)}</Button>
          <Button look="primary" type="submit" isDisabled={over > 0}>
            {t(commonText.save)}
          </Button>
        </div>
      </form>
    </DialogBox>
  );
}
