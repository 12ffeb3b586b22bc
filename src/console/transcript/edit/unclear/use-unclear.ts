import { TextSelection } from "prosemirror-state";
import { useEffect, useMemo, useRef } from "react";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { type Language, useLanguage } from "../../../text/language.tsx";
import { numberText } from "../../../text/numbers.ts";
import { timesText } from "../../../text/transcript-times.ts";
import type { Editor } from "../editor/editor.ts";
import { caretAt, positionOf } from "../editor/places.ts";
import { inTexts } from "../editor/replace-text.ts";
import { showPlace } from "../editor/show-place.ts";
import type { Commands } from "../keys/commands.ts";
import type { EditSettings } from "../keys/settings.ts";
import { type FoundUnclear, UnclearWords } from "../model/unclear.ts";

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
  const find = useMemo(
    () => (unclearBelow > 0 ? finderOf(editor, unclearBelow) : undefined),
    [editor, unclearBelow],
  );
  const latest = useRef({ announce, language });
  useEffect(() => {
    latest.current = { announce, language };
  });
  useEffect(() => {
    let stop = () => {};
    const step = (direction: 1 | -1): boolean => {
      const { announce, language } = latest.current;
      stop();
      if (!find) announce(timesText.unclearOff[language]);
      else {
        stop = searchNear(editor, find(), direction, (found) => {
          if (found) select(editor, found);
          announce(found ? textOf(editor, found, language) : timesText.noneUnclear[language]);
        });
      }
      return true;
    };
    const removals = [
      commands.add("nextUnclear", () => step(1)),
      commands.add("previousUnclear", () => step(-1)),
      editor.subscribe(() => stop()),
    ];
    return () => {
      stop();
      removals.forEach((remove) => remove());
    };
  }, [commands, editor, find]);
  useEffect(() => {
    if (!find || !underlinesUnclear) return undefined;
    const painted = editor.paint({
      name: "hlust-doubt",
      rangesIn: (paragraph) => find().in(paragraph),
    });
    return () => painted[Symbol.dispose]();
  }, [editor, find, underlinesUnclear]);
}

/** Returns a function that returns the unclear words of the editor's base. */
function finderOf(editor: Editor, below: number): () => UnclearWords {
  let known: UnclearWords | undefined;
  return () => {
    if (known?.base !== editor.base) known = new UnclearWords(editor.base, below);
    return known;
  };
}

/** How long the search takes at a time, in ms, so that keys are not late. */
const sliceMs = 10;

/**
 * Searches from the selection, and calls `onEnd` with the next or the previous unclear word.
 * Returns a function that stops the search.
 */
function searchNear(
  editor: Editor,
  unclear: UnclearWords,
  direction: 1 | -1,
  onEnd: (found: FoundUnclear | undefined) => void,
): () => void {
  const { doc, selection } = editor.state;
  const { $from, $to } = inTexts(doc, selection.from, selection.to);
  const here = { from: caretAt($from), to: caretAt($to) };
  const search = unclear.near(editor.paragraphs(), here, direction);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const goOn = (): void => {
    const end = performance.now() + sliceMs;
    let now = search.next();
    while (now.done !== true && performance.now() < end) now = search.next();
    if (now.done === true) onEnd(now.value);
    else timer = setTimeout(goOn);
  };
  goOn();
  return () => clearTimeout(timer);
}

function select(editor: Editor, { paragraph, word: { from, to } }: FoundUnclear): void {
  const { doc } = editor.state;
  const place = { paragraph, offset: from };
  showPlace(editor, place);
  const [start, end] = [positionOf(doc, place), positionOf(doc, { paragraph, offset: to })];
  editor.dispatch(editor.state.tr.setSelection(TextSelection.create(doc, start, end)));
}

/** Returns the word with its confidence: "“word”, confidence 45%". */
function textOf(editor: Editor, { paragraph, word }: FoundUnclear, language: Language): string {
  const text = editor.paragraphs()[paragraph]?.text.slice(word.from, word.to) ?? "";
  const percent = numberText(language, Math.round(word.confidence * 100));
  return timesText.unclear[language](text, percent);
}
