import { type ComponentProps, useEffect, useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import type { Editor } from "./editor/editor.ts";
import { SaveNote } from "./saving/save-note.tsx";
import type { Save } from "./use-save.ts";

/** Asks whether unsaved changes become a version. Enter saves it, and goes over to reading. */
export function EndQuestion({
  editor,
  save,
  name,
  onEnd,
  onClose,
}: {
  readonly editor: Editor;
  readonly save: Save;
  readonly name: string;
  readonly onEnd: () => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { isSaving, wait } = save;
  return (
    <DialogBox title={t(editText.endTitle)} isOpen onClose={onClose}>
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
        <FirstButton isPending={isSaving && !wait} onPress={() => save.save(onEnd)}>
          {t(commonText.save)}
        </FirstButton>
      </div>
    </DialogBox>
  );
}

/** The button that has the focus when its dialog opens. */
function FirstButton(props: Omit<ComponentProps<typeof Button>, "look" | "ref">) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return <Button {...props} ref={button} look="primary" />;
}
