import { useCallback, useSyncExternalStore } from "react";
import type { Editor } from "./editor/editor.ts";
import type { Base } from "./model/base.ts";

/** Returns the version on which a text is edited, also when it is replaced by one of others. */
export function useBase(editor: Editor): Base {
  const subscribe = useCallback((listener: () => void) => editor.subscribe(listener), [editor]);
  return useSyncExternalStore(subscribe, () => editor.base);
}
