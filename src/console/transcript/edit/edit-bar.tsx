import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import { type ReactNode, useCallback, useState, useSyncExternalStore } from "react";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { commonText } from "../../text/common.ts";
import { clockTime, longDate } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import type { Editor } from "./editor/editor.ts";
import type { DraftState } from "./saving/draft-keeper.ts";
import { OtherDrafts } from "./saving/other-drafts.tsx";
import { SaveNote } from "./saving/save-note.tsx";
import type { Save } from "./use-save.ts";

/**
 * The buttons over the text while it is edited. `onEnd` goes back to reading, and `onReopen` opens
 * the text again, with its current draft.
 */
export function EditBar({
  editor,
  save,
  name,
  onEnd,
  onReopen,
  notes,
  children,
}: {
  /** The name of the transcript. */
  readonly name: string;
  readonly editor: Editor;
  readonly save: Save;
  readonly onEnd: () => void;
  readonly onReopen: () => void;
  /** What others do with the text. */
  readonly notes: ReactNode;
  readonly children: ReactNode;
}) {
  const t = useText();
  const [isAsking, setAsking] = useState(false);
  const subscribe = useCallback((listener: () => void) => editor.subscribe(listener), [editor]);
  const canUndo = useSyncExternalStore(subscribe, () => undoDepth(editor.state) > 0);
  const canRedo = useSyncExternalStore(subscribe, () => redoDepth(editor.state) > 0);
  const { isUnsaved, isSaving, wait } = save;
  const keep = () => setAsking(false);
  return (
    <>
      <div className="edit-bar" data-region="bar">
        <span className="edit-bar-state">
          {t(
            isSaving && !wait
              ? editText.saving
              : isUnsaved
                ? draftText(save.draft)
                : editText.saved,
          )}
        </span>
        <div className="edit-bar-actions">
          {children}
          <Button isDisabled={!canUndo} onPress={() => editor.run(undo)}>
            {t(editText.undo)}
          </Button>
          <Button isDisabled={!canRedo} onPress={() => editor.run(redo)}>
            {t(editText.redo)}
          </Button>
          <Button
            look="primary"
            isDisabled={!isUnsaved}
            isPending={isSaving && !wait}
            onPress={() => save.save()}
          >
            {t(commonText.save)}
          </Button>
          <Button onPress={() => (isUnsaved ? setAsking(true) : onEnd())}>
            {t(editText.read)}
          </Button>
        </div>
        {notes}
      </div>
      <SaveNote save={save} editor={editor} name={name} />
      <DraftNotes save={save} onEnd={onEnd} onReopen={onReopen} />
      <EndQuestion {...{ editor, save, name, onEnd }} isOpen={isAsking} onClose={keep} />
    </>
  );
}

/** Asks whether unsaved changes are saved, before the user goes back to reading. */
function EndQuestion({
  editor,
  save,
  name,
  onEnd,
  isOpen,
  onClose,
}: {
  readonly editor: Editor;
  readonly save: Save;
  readonly name: string;
  readonly onEnd: () => void;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { isSaving, wait } = save;
  return (
    <DialogBox title={t(editText.endTitle)} isOpen={isOpen} onClose={onClose}>
      <p>{t(editText.endQuestion)}</p>
      <SaveNote save={save} editor={editor} name={name} onJump={onClose} />
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(editText.keepEditing)}</Button>
        <Button
          look="danger"
          onPress={() => {
            save.discard();
            onEnd();
          }}
        >
          {t(editText.discard)}
        </Button>
        <Button look="primary" isPending={isSaving && !wait} onPress={() => save.save(onEnd)}>
          {t(commonText.save)}
        </Button>
      </div>
    </DialogBox>
  );
}

/** Says that an earlier draft is open, which can be discarded, and which others there are. */
function DraftNotes({
  save,
  onEnd,
  onReopen,
}: {
  readonly save: Save;
  readonly onEnd: () => void;
  readonly onReopen: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { isUnsaved, foundFrom, discard } = save;
  return (
    <>
      {isUnsaved && foundFrom && (
        <p className="note">
          {t(editText.draftFound)(`${longDate(language, foundFrom)} ${clockTime(foundFrom)}`)}{" "}
          <Button
            look="quiet"
            onPress={() => {
              discard();
              onEnd();
            }}
          >
            {t(editText.dropDraft)}
          </Button>
        </p>
      )}
      <OtherDrafts save={save} onReopen={onReopen} />
    </>
  );
}

/** Where unsaved changes are kept, in words. */
function draftText({ here, service }: DraftState) {
  if (here === "failed") {
    return service === "kept" ? editText.draftOnlyOnService : editText.draftFailed;
  }
  if (here !== "kept") return editText.unsaved;
  if (service === "elsewhere") return editText.draftElsewhere;
  if (service === "tooLarge") return editText.draftTooLarge;
  return service === "kept" ? editText.draftOnService : editText.draftKept;
}
