import { useEffect, useState } from "react";
import { runInSlices } from "../../subtitles/run-in-slices.ts";
import type { Editor } from "../editor/editor.ts";
import { type CutText, EditedCues } from "./edited-cues.ts";

/** How long the text has not changed when its subtitles are cut again, in ms. */
const quietMs = 700;

/**
 * The subtitles of the edited text; undefined until they are known. They follow once the user
 * pauses, and are cut in slices, so that no key waits for them. `limitMs` is the length of the
 * recording; Infinity if it is unknown.
 */
export function useEditedCues(
  editor: Editor,
  limitMs: number,
): { readonly cutter: EditedCues; readonly cut: CutText | undefined } {
  const [cutter] = useState(() => new EditedCues());
  const [cut, setCut] = useState<CutText>();
  useEffect(() => {
    let cutting = new AbortController();
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const begin = async (): Promise<void> => {
      const { signal } = cutting;
      const { base } = editor;
      const [paragraphs, retimings] = [editor.paragraphs(), editor.retimings()];
      const done = await runInSlices(cutter.cut({ base, paragraphs, retimings, limitMs }), signal);
      if (done && !signal.aborted) setCut(done);
    };
    const stop = (): void => {
      cutting.abort();
      clearTimeout(waiting);
    };
    void begin();
    const unsubscribe = editor.subscribe(() => {
      stop();
      cutting = new AbortController();
      waiting = setTimeout(() => void begin(), quietMs);
    });
    return () => {
      unsubscribe();
      stop();
    };
  }, [editor, cutter, limitMs]);
  return { cutter, cut };
}
