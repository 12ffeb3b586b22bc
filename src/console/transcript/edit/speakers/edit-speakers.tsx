import { useCallback, useEffect, useMemo, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { editSpeakersText } from "../../../text/edit-speakers.ts";
import { useText } from "../../../text/language.tsx";
import type { Editor } from "../editor/editor.ts";
import { divideForNextSpeaker } from "../editor/next-speaker.ts";
import type { Commands } from "../keys/commands.ts";
import { useCommand } from "../keys/use-commands.ts";
import { useLoaded } from "../../use-loaded.ts";
import { KnownSpeakers } from "./known-speakers.ts";

const loadPalette = () => import("./speaker-palette.tsx");

/** The button of the speakers, and their palette, which keys and the margin open as well. */
export function EditSpeakers({
  editor,
  commands,
}: {
  readonly editor: Editor;
  readonly commands: Commands;
}) {
  const t = useText();
  const known = useMemo(() => new KnownSpeakers(editor), [editor]);
  const [open, setOpen] = useState<{ readonly index: number; readonly ofAll: boolean }>();
  const palette = useLoaded(loadPalette, open !== undefined);
  // What is typed before the palette is there does not change the text.
  const one = useCallback(() => {
    setOpen({ index: editor.caret().paragraph, ofAll: false });
    editor.view.dom.blur();
    return true;
  }, [editor]);
  const all = useCallback(() => {
    setOpen({ index: editor.caret().paragraph, ofAll: true });
    editor.view.dom.blur();
    return true;
  }, [editor]);
  const divide = useCallback(() => editor.run(divideForNextSpeaker(editor.base)), [editor]);
  useCommand(commands, "speaker", one);
  useCommand(commands, "speakerEverywhere", all);
  useCommand(commands, "divideForNextSpeaker", divide);
  useEffect(() => editor.addSpeakerPress((index) => setOpen({ index, ofAll: false })), [editor]);
  return (
    <>
      <Button look="quiet" onPress={one}>
        {t(editSpeakersText.open)}
      </Button>
      {open && palette && (
        <palette.SpeakerPalette
          key={`${open.index} ${open.ofAll}`}
          editor={editor}
          known={known}
          index={open.index}
          ofAll={open.ofAll}
          onClose={() => {
            setOpen(undefined);
            // The dialog holds the focus until it is gone.
            requestAnimationFrame(() => editor.view.focus());
          }}
        />
      )}
    </>
  );
}
