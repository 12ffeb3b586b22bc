import type { Transaction } from "prosemirror-state";
import { useEffect, useRef, useState } from "react";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { useLanguage } from "../../../text/language.tsx";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import type { CommandId } from "../keys/command-table.ts";
import { useLateKeys } from "../keys/use-late-keys.ts";
import type { Edge, TimeMove } from "../model/retime.ts";

const loadSetting = () => import("./set-time.ts");

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
  const { withLoaded } = useLateKeys(commands, loadSetting);
  // What a key sets while it is held is one step of the history.
  const first = useRef<Transaction>(undefined);
  const isOwn = useRef(false);
  const latest = useRef({ announce, language });
  useEffect(() => {
    latest.current = { announce, language };
  });
  useEffect(() => {
    const move = (wanted: TimeMove, isRepeat: boolean): boolean => {
      withLoaded(({ setTime, textOfTime }) => {
        isOwn.current = true;
        const set = setTime(editor, playback, wanted, isRepeat ? first.current : undefined);
        isOwn.current = false;
        first.current = set.first;
        const { announce, language } = latest.current;
        const text = textOfTime(set.found, wanted.edge, language);
        setShown(text);
        announce(text);
      });
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
        if (isOwn.current) return;
        first.current = undefined;
        setShown(undefined);
      }),
    ];
    return () => removals.forEach((remove) => remove());
  }, [editor, playback, commands, withLoaded]);
  return shown === undefined ? null : <span className="edit-bar-times">{shown}</span>;
}
