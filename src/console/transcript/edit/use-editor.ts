import { type RefCallback, type RefObject, useCallback, useRef, useState } from "react";
import { useLanguage } from "../../text/language.tsx";
import { editText } from "../../text/transcript-edit.ts";
import type { Playback } from "../playback.ts";
import type { EditSession } from "./edit-session.ts";
import { Editor } from "./editor/editor.ts";
import { marginWriter } from "./margin-writer.ts";
import type { ScrollPlace } from "./scroll-place.ts";

/** How often a hidden editor looks whether its element was removed. */
const removedEveryMs = 1_000;

/**
 * Returns a function that opens the editor in an element, at the place where the user was, and the
 * editor. It belongs to the version that is shown first; it closes with the element. While the page
 * is only hidden, because the session has ended, the editor stays as it is.
 */
export function useEditor(
  rootRef: RefObject<HTMLElement | null>,
  options: {
    readonly session: EditSession;
    readonly playback: Playback | undefined;
    readonly place: ScrollPlace | undefined;
  },
): { readonly mount: RefCallback<HTMLDivElement>; readonly editor: Editor | undefined } {
  const [editor, setEditor] = useState<Editor>();
  const { language } = useLanguage();
  const first = useRef({ ...options, language });
  const hidden = useRef<{ readonly editor: Editor; readonly mount: HTMLElement }>(undefined);
  const mount = useCallback(
    (mount: HTMLDivElement) => {
      rootRef.current = mount;
      const hide = (editor: Editor) => () => {
        hidden.current = { editor, mount };
        rootRef.current = null;
        disposeWhenRemoved(hidden, editor, mount);
      };
      if (hidden.current?.mount === mount) {
        const { editor } = hidden.current;
        hidden.current = undefined;
        editor.view.focus();
        return hide(editor);
      }
      const { session, playback, place, language } = first.current;
      const { base, text, paragraphs, speakers, retimings } = session;
      const opened = new Editor({
        mount,
        base,
        text,
        paragraphs,
        speakers,
        retimings,
        attributes: attributesOf(session.languageCode, editText.textName[language]),
        writeMargin: marginWriter(language),
        ...(place && { partHeights: place.partHeights, firstParagraph: place.paragraph }),
        onSeek: (seconds) => playback?.seek(seconds),
        onTimePress: (paragraph) => {
          if (!playback) return;
          playback.seek(opened.places.timeAt(opened.state.doc, { paragraph, offset: 0 }));
          playback.play();
        },
      });
      if (place) {
        opened.setCaret({ paragraph: place.paragraph, offset: 0 }, { isShown: false });
      }
      opened.view.focus();
      setEditor(opened);
      return hide(opened);
    },
    [rootRef],
  );
  return { mount, editor };
}

/** Disposes of an editor when its element is removed, unless it is shown again before. */
function disposeWhenRemoved(
  hidden: RefObject<{ readonly editor: Editor } | undefined>,
  editor: Editor,
  mount: HTMLElement,
): void {
  const check = (): void => {
    if (hidden.current?.editor !== editor) return;
    if (mount.isConnected) setTimeout(check, removedEveryMs);
    else editor[Symbol.dispose]();
  };
  setTimeout(check);
}

function attributesOf(lang: string, name: string): Record<string, string> {
  return {
    role: "textbox",
    "aria-multiline": "true",
    "aria-label": name,
    lang,
    spellcheck: "true",
  };
}
