import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import type { EditorState } from "prosemirror-state";
import { type ReactNode, useCallback, useState, useSyncExternalStore } from "react";
import type { PressEvent } from "react-aria-components/Button";
import { Button } from "../../parts/button.tsx";
import { commonText } from "../../text/common.ts";
import { clockTime, longDate } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import type { EditCommand } from "./editor/commands.ts";
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
          <HistoryButtons editor={editor} />
          <Button
            look="primary"
            isDisabled={!isUnsaved}
            isPending={isSaving && !wait}
            onPress={({ pointerType }) => {
              save.save();
              // The button has nothing to do afterwards, and would lose the focus.
              if (pointerType !== "touch") editor.view.focus();
            }}
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

/** The buttons that undo and redo. */
function HistoryButtons({ editor }: { readonly editor: Editor }) {
  const t = useText();
  const subscribe = useCallback((listener: () => void) => editor.subscribe(listener), [editor]);
  const canUndo = useSyncExternalStore(subscribe, () => undoDepth(editor.state) > 0);
  const canRedo = useSyncExternalStore(subscribe, () => redoDepth(editor.state) > 0);
  const run =
    (command: EditCommand, depthOf: (state: EditorState) => number) =>
    ({ pointerType }: PressEvent): void => {
      editor.run(command);
      // After a click one types on; with the keyboard one may press the button again. On a phone,
      // the focus would bring the keyboard back.
      const isOver = pointerType !== "touch" && depthOf(editor.state) === 0;
      if (isOver || pointerType === "mouse") editor.view.focus();
    };
  return (
    <>
      <Button isDisabled={!canUndo} onPress={run(undo, undoDepth)}>
        {t(editText.undo)}
      </Button>
      <Button isDisabled={!canRedo} onPress={run(redo, redoDepth)}>
        {t(editText.redo)}
      </Button>
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
