import type { Transaction } from "prosemirror-state";
import { useEffect, useRef, useState } from "react";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { type Language, useLanguage } from "../../../text/language.tsx";
import { clockThousandths } from "../../../text/numbers.ts";
import { timesText } from "../../../text/transcript-times.ts";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import { setWordTimes } from "../editor/retime-command.ts";
import type { Commands } from "../keys/commands.ts";
import type { CommandId } from "../keys/command-table.ts";
import { type Edge, type Retimed, retimed, type Stop, type TimeMove } from "../model/retime.ts";

/** How far a key moves the start or the end of a word, in seconds. */
const nudgeSeconds = 0.02;

const nudges: readonly (readonly [CommandId, TimeMove])[] = [
  ["startEarlier", { edge: "start", by: -nudgeSeconds }],
  ["startLater", { edge: "start", by: nudgeSeconds }],
  ["endEarlier", { edge: "end", by: -nudgeSeconds }],
  ["endLater", { edge: "end", by: nudgeSeconds }],
];
const marks: readonly (readonly [CommandId, Edge])[] = [
  ["markStart", "start"],
  ["markEnd", "end"],
];

/** Adds the commands that set the times of the word at the caret, and shows what they have set. */
export function EditTimes({
  editor,
  playback,
  commands,
  rebase,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
  /** Makes the version that was saved last the base of the text, if it is not (Save). */
  readonly rebase: () => Promise<boolean>;
}) {
  const announce = useAnnounce();
  const { language } = useLanguage();
  const [shown, setShown] = useState<string>();
  const latest = useRef({ announce, language });
  useEffect(() => {
    latest.current = { announce, language };
  });
  useEffect(() => {
    let isOwn = false;
    // What a key sets while it is held is one step of the history.
    let first: Transaction | undefined;
    let isRebasing = false;
    // A new word that was saved is a word of the version that was saved.
    const moveSaved = async (wanted: TimeMove, found: Retimed): Promise<void> => {
      isRebasing = true;
      const isNew = await rebase().catch(() => false);
      isRebasing = false;
      set(wanted, isNew ? findTime(editor, playback, wanted) : found);
    };
    const move = (wanted: TimeMove, isRepeat: boolean): boolean => {
      if (isRebasing) return true;
      if (!isRepeat) first = undefined;
      const found = findTime(editor, playback, wanted);
      if (found.kind === "estimated") void moveSaved(wanted, found);
      else set(wanted, found);
      return true;
    };
    const set = (wanted: TimeMove, found: Retimed): void => {
      const { announce, language } = latest.current;
      isOwn = true;
      if (found.kind === "set") {
        const { word, before, after } = found;
        setWordTimes(
          word,
          before,
          after,
          first,
        )(editor.state, (tr) => {
          first ??= tr;
          editor.dispatch(tr);
        });
      }
      isOwn = false;
      const text = textOf(found, wanted.edge, language);
      setShown(text);
      announce(text);
    };
    const removals = [
      ...nudges.map(([id, wanted]) => commands.add(id, (isRepeat) => move(wanted, isRepeat))),
      ...marks.map(([id, edge]) =>
        commands.add(
          id,
          (isRepeat) => playback !== undefined && move({ edge, at: playback.place }, isRepeat),
        ),
      ),
      // What was set is shown until something else changes.
      editor.subscribe(() => {
        if (isOwn) return;
        first = undefined;
        setShown(undefined);
      }),
    ];
    return () => removals.forEach((remove) => remove());
  }, [editor, playback, commands, rebase]);
  return shown === undefined ? null : <span className="edit-bar-times">{shown}</span>;
}

/** Finds the time of the word at the caret that is as near to the wanted one as possible. */
function findTime(editor: Editor, playback: Playback | undefined, move: TimeMove): Retimed {
  const duration = playback?.state.duration ?? 0;
  const latest = duration > 0 ? duration : Infinity;
  return retimed(editor.timedText(), editor.caret(), { move, latest });
}

/** Says what became of a time: "“word” starts at 0:01.220 (was 0:01.200)." */
function textOf(found: Retimed, edge: Edge, language: Language): string {
  if (found.kind === "none") return timesText.noWord[language];
  if (found.kind === "estimated") return timesText.estimated[language](found.text);
  const [now, before] = [found.to, found.from].map((time) => clockThousandths(language, time));
  const { text, from, to, stop, wasEstimated } = found;
  const [is, was] =
    edge === "start"
      ? [timesText.starts, timesText.startMoved]
      : [timesText.ends, timesText.endMoved];
  const set =
    from === to ? is[language](text, now ?? "") : was[language](text, now ?? "", before ?? "");
  const estimated = wasEstimated ? timesText.wasEstimated[language] : "";
  return [set, estimated, stop ? stopText(stop, language) : ""].filter(Boolean).join(" ");
}

function stopText({ by, word }: Stop, language: Language): string {
  if (by === "previous") return timesText.stopsAtPrevious[language](word);
  if (by === "next") return timesText.stopsAtNext[language](word);
  const text = {
    self: "stopsAtSelf",
    recording: "stopsAtRecording",
    order: "stopsInOrder",
  } as const;
  return timesText[text[by]][language];
}
