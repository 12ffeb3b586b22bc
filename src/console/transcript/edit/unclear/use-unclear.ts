import { useEffect, useMemo, useRef, useState } from "react";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { useLanguage } from "../../../text/language.tsx";
import { useLoaded } from "../../use-loaded.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import type { EditSettings } from "../keys/settings.ts";

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
  const { language } = useLanguage();
  // Keys that are pressed before the code is there take effect once it is.
  const waiting = useRef<(1 | -1)[]>([]);
  const [isPressed, setPressed] = useState(false);
  const finding = useLoaded(loadFinding, unclearBelow > 0 || isPressed);
  const find = useMemo(
    () => (unclearBelow > 0 ? finding?.finderOf(editor, unclearBelow) : undefined),
    [editor, finding, unclearBelow],
  );
  const latest = useRef({ announce, language });
  useEffect(() => {
    latest.current = { announce, language };
  });
  useEffect(() => {
    let stop = () => {};
    const step = (direction: 1 | -1): boolean => {
      stop();
      if (finding) stop = finding.selectNear(editor, find?.(), direction, latest.current);
      else {
        waiting.current.push(direction);
        setPressed(true);
      }
      return true;
    };
    if (finding) for (const direction of waiting.current.splice(0)) step(direction);
    const removals = [
      commands.add("nextUnclear", () => step(1)),
      commands.add("previousUnclear", () => step(-1)),
      editor.subscribe(() => stop()),
    ];
    return () => {
      stop();
      removals.forEach((remove) => remove());
    };
  }, [commands, editor, find, finding]);
  useEffect(() => {
    if (!find || !underlinesUnclear) return undefined;
    const painted = editor.paint({
      name: "hlust-doubt",
      rangesIn: (paragraph) => find().in(paragraph),
    });
    return () => painted[Symbol.dispose]();
  }, [editor, find, underlinesUnclear]);
}
