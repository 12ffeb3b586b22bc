import { useCallback, useMemo, useState, useSyncExternalStore } from "react";
import type { EditSession, SavedText } from "./edit-session.ts";
import type { Editor } from "./editor/editor.ts";
import { areSamePins } from "./model/pins.ts";
import { areSameRetimings } from "./model/retimings.ts";

/** What is edited now: the version on which it is based, and the one that was saved last. */
export interface SessionRef {
  /** Returns the session as it is now, also before the page is rendered again. */
  readonly read: () => EditSession;
  readonly change: (session: EditSession) => void;
  /** Whether the text differs from what was saved. */
  readonly isUnsaved: () => boolean;
}

/**
 * Keeps the session of an editor, and returns it with a reference to it. Its base is always the
 * editor's.
 */
export function useSessionRef(
  editor: Editor,
  first: EditSession,
): { readonly session: EditSession; readonly ref: SessionRef; readonly isUnsaved: boolean } {
  const [session, setSession] = useState(first);
  const ref = useMemo(() => {
    let now = first;
    return {
      read: () => now,
      change: (next: EditSession) => {
        now = next;
        setSession(next);
      },
      isUnsaved: () => isOther(editor, now.saved),
    };
    // The session is replaced only by change().
    // oxlint-disable-next-line react/exhaustive-deps
  }, [editor]);
  const subscribe = useCallback((listener: () => void) => editor.subscribe(listener), [editor]);
  const isUnsaved = useSyncExternalStore(subscribe, ref.isUnsaved);
  return { session, ref, isUnsaved };
}

/** Whether the text differs from what was saved. */
function isOther(editor: Editor, saved: SavedText): boolean {
  if (editor.speakers() !== saved.speakers) return true;
  if (!areSameRetimings(editor.retimings(), saved.retimings)) return true;
  const paragraphs = editor.paragraphs();
  if (paragraphs === saved.paragraphs) return false;
  if (paragraphs.length !== saved.paragraphs.length) return true;
  return paragraphs.some((one, at) => {
    const other = saved.paragraphs[at];
    if (one === other) return false;
    if (one.text !== other?.text || !areSamePins(one.pins, other.pins)) return true;
    return one.speaker !== other.speaker || one.isSoft !== other.isSoft;
  });
}
