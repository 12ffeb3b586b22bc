import { useCallback, useEffect } from "react";
import type { Editor } from "../editor/editor.ts";
import type { Save } from "../use-save.ts";
import type { Commands } from "./commands.ts";
import { useCommand } from "./use-commands.ts";
import type { useEditSettings } from "./use-edit-settings.ts";

/** Saves by a key, and never lets the browser save the page instead. */
export function useSaveCommand(commands: Commands, { isUnsaved, save }: Save): void {
  const handler = useCallback(() => {
    if (isUnsaved) save();
    return true;
  }, [isUnsaved, save]);
  useCommand(commands, "save", handler);
}

/** Turns the browser's spelling checker on or off, as the user has chosen. */
export function useSpelling(
  editor: Editor,
  commands: Commands,
  { settings: { checksSpelling }, change }: ReturnType<typeof useEditSettings>,
): void {
  useEffect(() => {
    editor.setAttribute("spellcheck", String(checksSpelling));
  }, [editor, checksSpelling]);
  const toggle = useCallback(() => {
    change({ checksSpelling: !checksSpelling });
    return true;
  }, [checksSpelling, change]);
  useCommand(commands, "toggleSpelling", toggle);
}
