import type { Transaction } from "prosemirror-state";
import { useEffect, useRef, useState } from "react";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { type Language, useLanguage } from "../../../text/language.tsx";
import { clockThousandths } from "../../../text/numbers.ts";
import { timesText } from "../../../text/transcript-times.ts";
import type { Playback } from "../../playback.ts";
import type { EditCommand } from "../editor/commands.ts";
import type { Editor } from "../editor/editor.ts";
import { pinWordTimes, setWordTimes } from "../editor/retime-command.ts";
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
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
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
    const move = (wanted: TimeMove, isRepeat: boolean): boolean => {
      const { announce, language } = latest.current;
      if (!isRepeat) first = undefined;
      const found = findTime(editor, playback, wanted);
      isOwn = true;
      if (found.kind === "set") {
        commandFor(
          found,
          editor.caret().paragraph,
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
      return true;
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
  }, [editor, playback, commands]);
  return shown === undefined ? null : <span className="edit-bar-times">{shown}</span>;
}

/** Finds the time of the word at the caret that is as near to the wanted one as possible. */
function findTime(editor: Editor, playback: Playback | undefined, move: TimeMove): Retimed {
  const duration = playback?.state.duration ?? 0;
  const latest = duration > 0 ? duration : Infinity;
  return retimed(editor.timedText(), editor.caret(), { move, latest });
}

/** Returns the command that sets the times of a word of the base, or of one that was typed. */
function commandFor(
  { word, range, before, after }: Extract<Retimed, { kind: "set" }>,
  paragraph: number,
  first: Transaction | undefined,
): EditCommand {
  if (word === undefined) return pinWordTimes({ paragraph, ...range }, after, first);
  return setWordTimes(word, before, after, first);
}

/** Says what became of a time: "“word” starts at 0:01.220 (was 0:01.200)." */
function textOf(found: Retimed, edge: Edge, language: Language): string {
  if (found.kind === "none") return timesText.noWord[language];
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
