import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import { type ReactNode, useCallback, useState, useSyncExternalStore } from "react";
import { Button } from "../../parts/button.tsx";
import { commonText } from "../../text/common.ts";
import { clockTime, longDate } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import type { Editor } from "./editor/editor.ts";
import type { Commands } from "./keys/commands.ts";
import { useCommand } from "./keys/use-commands.ts";
import type { DraftState } from "./saving/draft-keeper.ts";
import { SaveNote } from "./saving/save-note.tsx";
import { UnkeptNote } from "./saving/unkept-note.tsx";
import { useBarHeight } from "./use-bar-height.ts";
import { useLoaded } from "../use-loaded.ts";
import type { Save } from "./use-save.ts";

const loadQuestion = () => import("./end-question.tsx");
const loadOthers = () => import("./saving/other-drafts.tsx");

/**
 * The buttons over the text while it is edited. `onEnd` goes back to reading, and `onReopen` opens
 * the text again, with its current draft.
 */
export function EditBar({
  editor,
  commands,
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
  readonly commands: Commands;
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
  const leave = useCallback(() => {
    if (isUnsaved) setAsking(true);
    else onEnd();
    return true;
  }, [isUnsaved, onEnd]);
  useCommand(commands, "read", leave);
  const keep = () => setAsking(false);
  const question = useLoaded(loadQuestion, isAsking);
  const bar = useBarHeight(editor);
  return (
    <>
      <div className="edit-bar" data-region="bar" ref={bar}>
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
      {isUnsaved && <UnkeptNote draft={save.draft} editor={editor} name={name} />}
      <DraftNotes save={save} onEnd={onEnd} onReopen={onReopen} />
      {isAsking && question && (
        <question.EndQuestion {...{ editor, save, name, onEnd }} onClose={keep} />
      )}
    </>
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
  const { isUnsaved, foundFrom, discard, draft } = save;
  const hasOthers = draft.elsewhere !== undefined || draft.others.length > 0;
  const drafts = useLoaded(loadOthers, hasOthers);
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
      {drafts && <drafts.OtherDrafts save={save} onReopen={onReopen} />}
    </>
  );
}

/** Where unsaved changes are kept, in words. */
function draftText({ here, service }: DraftState) {
  if (here === "failed") {
    if (service === "none") return editText.draftFailed;
    return service === "kept" ? editText.draftOnlyOnService : editText.draftNowhere;
  }
  if (here !== "kept") return editText.unsaved;
  if (service === "elsewhere") return editText.draftElsewhere;
  if (service === "tooLarge") return editText.draftTooLarge;
  if (service === "full") return editText.draftFull;
  return service === "kept" ? editText.draftOnService : editText.draftKept;
}
