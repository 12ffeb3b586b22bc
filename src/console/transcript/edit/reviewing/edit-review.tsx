import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../../parts/button.tsx";
import { ProblemNote } from "../../../parts/problem-note.tsx";
import { useLanguage, useText } from "../../../text/language.tsx";
import { reviewText } from "../../../text/transcript-review.ts";
import type { Playback } from "../../playback.ts";
import { runInSlices } from "../../subtitles/run-in-slices.ts";
import { useReviewChange, useStretches } from "../../use-review.ts";
import type { Editor } from "../editor/editor.ts";
import { paragraphOf } from "../editor/schema.ts";
import type { CommandId } from "../keys/command-table.ts";
import type { Commands } from "../keys/commands.ts";
import { marginWriter } from "../margin-writer.ts";
import { CheckedText } from "./checked-text.ts";
import { useBase } from "../use-base.ts";
import { originalQuery } from "./original-query.ts";
import { useListened } from "./use-listened.ts";
import { useReviewCommands } from "./use-review-commands.ts";

/** How much of the text is checked, and the buttons and commands of the review. */
export function EditReview({
  editor,
  playback,
  commands,
  name,
  transcript,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
  readonly name: string;
  readonly transcript: TranscriptJson;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { checked: stretches } = useStretches(name);
  const { mutate, error } = useReviewChange(name);
  const base = useBase(editor);
  const checked = useMemo(() => new CheckedText(base, stretches), [base, stretches]);
  useListened(name, playback);
  const queries = useQueryClient();
  const readOriginal = () => queries.fetchQuery(originalQuery(name, transcript));
  useReviewCommands(commands, { editor, playback, checked, change: mutate, readOriginal });
  useEffect(() => {
    editor.setMargins(marginWriter(language, (paragraph) => checked.checkersOf(paragraph)));
  }, [editor, language, checked]);
  const share = useShare(editor, checked);
  const isHereChecked = useIsHereChecked(editor, checked);
  const run = (id: CommandId) => () => {
    commands.run(id);
    editor.view.focus();
  };
  return (
    <>
      <span className="edit-bar-review">{t(reviewText.share)(Math.floor(share * 100))}</span>
      {isHereChecked ? (
        <Button look="quiet" onPress={run("uncheck")}>
          {t(reviewText.uncheck)}
        </Button>
      ) : (
        <Button look="quiet" onPress={run("check")}>
          {t(reviewText.check)}
        </Button>
      )}
      {error && <ProblemNote error={error} />}
    </>
  );
}

/** How long after the last change the share is computed. */
const restMs = 300;

/** Returns how much of the text is checked. It is computed in slices, and not on each key. */
function useShare(editor: Editor, checked: CheckedText): number {
  const [share, setShare] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let computing = new AbortController();
    const compute = async (): Promise<void> => {
      const { signal } = computing;
      const found = await runInSlices(checked.share(editor.paragraphs()), signal);
      if (found !== undefined && !signal.aborted) setShare(found);
    };
    const stop = (): void => {
      clearTimeout(timer);
      computing.abort();
    };
    const computeAfter = (ms: number): void => {
      timer = setTimeout(() => void compute(), ms);
    };
    computeAfter(0);
    const unsubscribe = editor.subscribe(() => {
      stop();
      computing = new AbortController();
      computeAfter(restMs);
    });
    return () => {
      stop();
      unsubscribe();
    };
  }, [editor, checked]);
  return share;
}

/** Whether the paragraph of the caret is checked. */
function useIsHereChecked(editor: Editor, checked: CheckedText): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      document.addEventListener("selectionchange", listener);
      const stop = editor.subscribe(listener);
      return () => {
        document.removeEventListener("selectionchange", listener);
        stop();
      };
    },
    [editor],
  );
  return useSyncExternalStore(subscribe, () => {
    const { $head } = editor.state.selection;
    return $head.depth >= 2 && checked.checkersOf(paragraphOf($head.node(2))) !== undefined;
  });
}
