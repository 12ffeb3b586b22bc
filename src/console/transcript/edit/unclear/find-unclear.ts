import { TextSelection } from "prosemirror-state";
import type { Language } from "../../../text/language.tsx";
import { numberText } from "../../../text/numbers.ts";
import { timesText } from "../../../text/transcript-times.ts";
import type { Editor } from "../editor/editor.ts";
import { caretAt, positionOf } from "../editor/places.ts";
import { inTexts } from "../editor/replace-text.ts";
import { showPlace } from "../editor/show-place.ts";
import { type FoundUnclear, UnclearWords } from "../model/unclear.ts";

/** Returns a function that returns the unclear words of the editor's base. */
export function finderOf(editor: Editor, below: number): () => UnclearWords {
  let known: UnclearWords | undefined;
  return () => {
    if (known?.base !== editor.base) known = new UnclearWords(editor.base, below);
    return known;
  };
}

/**
 * Selects the next or the previous unclear word, and announces it. Says if there is none, and
 * without `unclear`, that none are looked for, since nothing else on the page shows this. Returns a
 * function that stops the search.
 */
export function selectNear(
  editor: Editor,
  unclear: UnclearWords | undefined,
  direction: 1 | -1,
  {
    announce,
    notify,
    language,
  }: {
    readonly announce: (text: string) => void;
    readonly notify: (text: string) => void;
    readonly language: Language;
  },
): () => void {
  if (!unclear) {
    notify(timesText.unclearOff[language]);
    return () => {};
  }
  return searchNear(editor, unclear, direction, (found) => {
    if (!found) {
      notify(timesText.noneUnclear[language]);
      return;
    }
    select(editor, found);
    announce(textOf(editor, found, language));
  });
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
