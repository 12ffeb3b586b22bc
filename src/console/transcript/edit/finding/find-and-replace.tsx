import { useCallback, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "../../../parts/button.tsx";
import { findingText } from "../../../text/edit-finding.ts";
import { useText } from "../../../text/language.tsx";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import type { Search } from "../model/find.ts";
import { useCommand } from "../keys/use-commands.ts";
import { useLoaded } from "../../use-loaded.ts";
import type { FindField } from "./find-panel.tsx";

const loadPanel = () => import("./find-panel.tsx");

const nothing: Search = { text: "", isCaseExact: false, isWholeWords: false };

/** The button of find and replace, and its panel, which keys open as well. */
export function FindAndReplace({
  editor,
  playback,
  commands,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
}) {
  const t = useText();
  const [open, setOpen] = useState<{ readonly field: FindField }>();
  const [wanted, setWanted] = useState<Search>(nothing);
  const panel = useLoaded(loadPanel, open !== undefined);
  const show = useCallback(
    (field: FindField) => {
      const text = selectedText(editor);
      if (text !== "") setWanted((before) => ({ ...before, text }));
      setOpen({ field: text === "" ? "find" : field });
      // What is typed before the panel is there does not change the text.
      editor.view.dom.blur();
      return true;
    },
    [editor],
  );
  const find = useCallback(() => show("find"), [show]);
  const replace = useCallback(() => show("replace"), [show]);
  useCommand(commands, "find", find);
  useCommand(commands, "replace", replace);
  return (
    <>
      <Button look="quiet" onPress={find}>
        {t(findingText.open)}
      </Button>
      {open &&
        panel &&
        createPortal(
          <panel.FindPanel
            editor={editor}
            playback={playback}
            commands={commands}
            open={open}
            wanted={wanted}
            onChange={setWanted}
            onClose={() => {
              setOpen(undefined);
              editor.view.focus();
            }}
          />,
          document.body,
        )}
    </>
  );
}

/** Returns the selected text if it is in one paragraph; "" otherwise. */
function selectedText({ state: { doc, selection } }: Editor): string {
  const { $from, $to, empty } = selection;
  if (empty || !$from.sameParent($to)) return "";
  return doc.textBetween($from.pos, $to.pos);
}
