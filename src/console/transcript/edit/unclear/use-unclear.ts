import { useEffect, useLayoutEffect, useMemo, useRef } from "react";
import { useAnnounce, useNotify } from "../../../parts/announcer.tsx";
import { useLanguage } from "../../../text/language.tsx";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import type { EditSettings } from "../keys/settings.ts";
import { useLateKeys } from "../keys/use-late-keys.ts";

const loadFinding = () => import("./find-unclear.ts");

/**
 * Adds the commands that select the next and the previous word of which the recognizer was unsure,
 * and underlines such words, as the user has chosen.
 */
export function useUnclear(
  editor: Editor,
  commands: Commands,
  { unclearBelow, underlinesUnclear }: EditSettings,
): void {
  const announce = useAnnounce();
  const notify = useNotify();
  const { language } = useLanguage();
  const { loaded: finding, withLoaded } = useLateKeys(commands, loadFinding, unclearBelow > 0);
  const find = useMemo(
    () => (unclearBelow > 0 ? finding?.finderOf(editor, unclearBelow) : undefined),
    [editor, finding, unclearBelow],
  );
  const latest = useRef({ announce, notify, language, find });
  // Keys that have waited for the code need it in the same update.
  useLayoutEffect(() => {
    latest.current = { announce, notify, language, find };
  });
  const stop = useRef(() => {});
  useEffect(() => {
    const step = (direction: 1 | -1): boolean => {
      withLoaded(({ selectNear }) => {
        const { find, ...to } = latest.current;
        stop.current();
        stop.current = selectNear(editor, find?.(), direction, to);
      });
      return true;
    };
    const removals = [
      commands.add("nextUnclear", () => step(1)),
      commands.add("previousUnclear", () => step(-1)),
      editor.subscribe(() => stop.current()),
    ];
    return () => {
      stop.current();
      removals.forEach((remove) => remove());
    };
  }, [commands, editor, withLoaded]);
  useEffect(() => {
    if (!find || !underlinesUnclear) return undefined;
    const painted = editor.paint({
      name: "hlust-doubt",
      rangesIn: (paragraph) => find().in(paragraph),
    });
    return () => painted[Symbol.dispose]();
  }, [editor, find, underlinesUnclear]);
}
