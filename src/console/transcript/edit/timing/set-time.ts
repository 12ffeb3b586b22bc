import type { Transaction } from "prosemirror-state";
import type { Language } from "../../../text/language.tsx";
import { clockThousandths } from "../../../text/numbers.ts";
import { timesText } from "../../../text/transcript-times.ts";
import type { Playback } from "../../playback.ts";
import type { EditCommand } from "../editor/commands.ts";
import type { Editor } from "../editor/editor.ts";
import { pinWordTimes, setWordTimes } from "../editor/retime-command.ts";
import { type Edge, type Retimed, retimed, type Stop, type TimeMove } from "../model/retime.ts";

/**
 * Sets the time of the word at the caret that is as near to the wanted one as possible. With a
 * `first` transaction, both are one step of the history.
 */
export function setTime(
  editor: Editor,
  playback: Playback | undefined,
  wanted: TimeMove,
  first: Transaction | undefined,
): { readonly found: Retimed; readonly first: Transaction | undefined } {
  const found = findTime(editor, playback, wanted);
  let begun = first;
  if (found.kind === "set") {
    const command = commandFor(found, editor.caret().paragraph, first);
    command(editor.state, (tr) => {
      begun ??= tr;
      editor.dispatch(tr);
    });
  }
  return { found, first: begun };
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
export function textOfTime(found: Retimed, edge: Edge, language: Language): string {
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
