import { useEffect, useRef } from "react";
import { useAnnounce, useNotify } from "../../../parts/announcer.tsx";
import { useText } from "../../../text/language.tsx";
import { reviewText } from "../../../text/transcript-review.ts";
import type { Playback } from "../../playback.ts";
import type { ReviewChange } from "../../review-query.ts";
import type { Editor } from "../editor/editor.ts";
import type * as restoring from "../editor/restore.ts";
import type { Commands } from "../keys/commands.ts";
import { type CheckedText, markOf } from "./checked-text.ts";
import type { OriginalVersion } from "./original-query.ts";

interface Reviewed {
  /** Returns the version that the transcript began with. */
  readonly readOriginal: () => Promise<OriginalVersion>;
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly checked: CheckedText;
  readonly change: (change: ReviewChange) => void;
  /** Announces what the page shows; notify() shows what nothing else on the page says. */
  readonly announce: (text: string) => void;
  readonly notify: (text: string) => void;
  readonly t: ReturnType<typeof useText>;
}

/** Adds the commands that check paragraphs, go to unchecked ones, and put one back. */
export function useReviewCommands(
  commands: Commands,
  reviewed: Omit<Reviewed, "announce" | "notify" | "t">,
): void {
  const announce = useAnnounce();
  const notify = useNotify();
  const t = useText();
  const latest = useRef<Reviewed>({ ...reviewed, announce, notify, t });
  useEffect(() => {
    latest.current = { ...reviewed, announce, notify, t };
  });
  useEffect(() => {
    const removals = [
      commands.add("check", () => check(latest.current)),
      commands.add("uncheck", () => uncheck(latest.current)),
      commands.add("nextUnchecked", () => goToUnchecked(latest.current)),
      commands.add("restoreParagraph", () => {
        void restore(latest.current);
        return true;
      }),
    ];
    return () => removals.forEach((remove) => remove());
  }, [commands]);
}

/** Marks the paragraph of the caret as checked, goes to the next one and plays it. */
function check({ editor, playback, change, announce, t }: Reviewed): boolean {
  const { paragraph: index } = editor.caret();
  const paragraphs = editor.paragraphs();
  const paragraph = paragraphs[index];
  const mark = paragraph && markOf(editor.base, paragraph);
  if (mark) change({ add: [mark] });
  announce(t(reviewText.checked)([]));
  if (index + 1 >= paragraphs.length) return true;
  editor.setCaret({ paragraph: index + 1, offset: 0 });
  playback?.seek(editor.caretTime());
  playback?.play();
  return true;
}

function uncheck({ editor, checked, change, announce, t }: Reviewed): boolean {
  const paragraph = editor.paragraphs()[editor.caret().paragraph];
  const mark = paragraph && checked.checkersOf(paragraph) && markOf(editor.base, paragraph);
  if (!mark) return false;
  change({ remove: [mark] });
  announce(t(reviewText.unchecked));
  return true;
}

/** Goes to the next paragraph that is not checked, after the last one to the first. */
function goToUnchecked({ editor, playback, checked, notify, t }: Reviewed): boolean {
  const paragraphs = editor.paragraphs();
  const { paragraph: here } = editor.caret();
  const order = paragraphs.map((_, at) => (here + 1 + at) % paragraphs.length);
  const next = order.find((at) => {
    const paragraph = paragraphs[at];
    return paragraph && !checked.isChecked(paragraph);
  });
  if (next === undefined) {
    notify(t(reviewText.allChecked));
    return true;
  }
  editor.setCaret({ paragraph: next, offset: 0 });
  playback?.seek(editor.caretTime());
  return true;
}

/**
 * Puts the paragraph of the caret back to what was recognized, as a step that can be undone. If the
 * transcript was imported, it is put back to what was imported.
 */
async function restore({ editor, readOriginal, announce, notify, t }: Reviewed): Promise<void> {
  const paragraph = editor.paragraphs()[editor.caret().paragraph];
  let original: OriginalVersion;
  let restoreParagraph: typeof restoring.restoreParagraph;
  try {
    [original, { restoreParagraph }] = await Promise.all([
      readOriginal(),
      import("../editor/restore.ts"),
    ]);
  } catch {
    notify(t(reviewText.originalUnavailable));
    return;
  }
  // Meanwhile the user may have typed, or moved the caret.
  const index = paragraph ? editor.paragraphs().indexOf(paragraph) : -1;
  if (index < 0) {
    notify(t(reviewText.notRestored));
    return;
  }
  const isRestored = editor.run(restoreParagraph(original, editor.base, index));
  if (isRestored) announce(t(reviewText.restored[original.made]));
  else notify(t(reviewText.nothingThere[original.made]));
}
