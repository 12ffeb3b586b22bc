import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import {
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { commonText } from "../../text/common.ts";
import { clockTime, longDate } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import type { Editor } from "./editor/editor.ts";
import type { Commands } from "./keys/commands.ts";
import { useCommand } from "./keys/use-commands.ts";
import type { DraftState } from "./saving/draft-keeper.ts";
import { SaveNote } from "./saving/save-note.tsx";
import type { Save } from "./use-save.ts";

/** The buttons over the text while it is edited. `onEnd` goes back to reading. */
export function EditBar({
  editor,
  commands,
  save,
  name,
  onEnd,
  notes,
  children,
}: {
  /** The name of the transcript. */
  readonly name: string;
  readonly editor: Editor;
  readonly commands: Commands;
  readonly save: Save;
  readonly onEnd: () => void;
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
  const leave = useCallback(() => {
    if (isUnsaved) setAsking(true);
    else onEnd();
    return true;
  }, [isUnsaved, onEnd]);
  useCommand(commands, "read", leave);
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
          <Button onPress={() => void leave()}>{t(editText.read)}</Button>
        </div>
        {notes}
      </div>
      <SaveNote save={save} editor={editor} name={name} />
      <DraftNote save={save} onEnd={onEnd} />
      <DialogBox title={t(editText.endTitle)} isOpen={isAsking} onClose={() => setAsking(false)}>
        <EndQuestion {...{ editor, save, name, onEnd }} onKeepEditing={() => setAsking(false)} />
      </DialogBox>
    </>
  );
}

/** Asks whether unsaved changes become a version. Enter saves it, and goes over to reading. */
function EndQuestion({
  editor,
  save,
  name,
  onEnd,
  onKeepEditing,
}: {
  readonly editor: Editor;
  readonly save: Save;
  readonly name: string;
  readonly onEnd: () => void;
  readonly onKeepEditing: () => void;
}) {
  const t = useText();
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <>
      <p>{t(editText.endQuestion)}</p>
      <SaveNote save={save} editor={editor} name={name} />
      <div className="dialog-actions">
        <Button onPress={onKeepEditing}>{t(editText.keepEditing)}</Button>
        <Button
          look="danger"
          onPress={() => {
            save.discard();
            onEnd();
          }}
        >
          {t(editText.discard)}
        </Button>
        <Button
          ref={first}
          look="primary"
          isPending={save.isSaving && !save.wait}
          onPress={() => save.save(onEnd)}
        >
          {t(commonText.save)}
        </Button>
      </div>
    </>
  );
}

/** Says that an earlier draft is open, which can be discarded. */
function DraftNote({
  save: { isUnsaved, foundFrom, discard },
  onEnd,
}: {
  readonly save: Save;
  readonly onEnd: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  if (!isUnsaved || !foundFrom) return null;
  return (
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
