import { useCallback, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { loadLater } from "../../../parts/load-later.tsx";
import { useText } from "../../../text/language.tsx";
import { editText } from "../../../text/transcript-edit.ts";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "./commands.ts";
import { useCommand } from "./use-commands.ts";
import type { useEditSettings } from "./use-edit-settings.ts";

const GoToTime = loadLater(() => import("./go-to-time.tsx").then(({ GoToTime }) => GoToTime));
const SettingsDialog = loadLater(() =>
  import("./settings-dialog.tsx").then(({ SettingsDialog }) => SettingsDialog),
);

/** The button that shows the keys and settings of the editor, and the dialogs that keys open. */
export function EditKeys({
  editor,
  playback,
  commands,
  kept,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
  readonly kept: ReturnType<typeof useEditSettings>;
}) {
  const t = useText();
  const [open, setOpen] = useState<"settings" | "time">();
  const showSettings = useCallback(() => {
    setOpen("settings");
    return true;
  }, []);
  const showTime = useCallback(() => {
    setOpen("time");
    // What is typed before the dialog is there does not change the text.
    editor.view.dom.blur();
    return true;
  }, [editor]);
  useCommand(commands, "showKeys", showSettings);
  useCommand(commands, "goToTime", showTime);
  const close = (): void => {
    setOpen(undefined);
    // The dialog holds the focus until it is gone.
    requestAnimationFrame(() => editor.view.focus());
  };
  return (
    <>
      <Button look="quiet" onPress={() => setOpen("settings")}>
        {t(editText.keysAndSettings)}
      </Button>
      {open === "settings" && (
        <SettingsDialog
          settings={kept.settings}
          error={kept.error}
          onChange={kept.change}
          onClose={close}
        />
      )}
      {open === "time" && (
        <GoToTime
          now={playback?.place ?? editor.caretTime()}
          duration={playback?.state.duration ?? 0}
          onClose={close}
          onChosen={(seconds) => {
            playback?.seek(seconds);
            editor.setCaret(editor.places.caretAt(editor.state.doc, seconds));
            close();
          }}
        />
      )}
    </>
  );
}
