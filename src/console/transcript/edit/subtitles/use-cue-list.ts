import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Playback } from "../../playback.ts";
import { cueAt } from "../../subtitles/shown-cue.ts";
import type { Editor } from "../editor/editor.ts";
import type { CutText } from "./edited-cues.ts";
import { type CueRange, extended, rangeAround, rangeWith } from "./shown-cues.ts";

/** How long the caret has not moved when its subtitle is shown, in ms. */
const caretMs = 250;
/** The distance from an end of the list at which more subtitles are rendered, in pixels. */
const nearEndPx = 300;

interface Shown {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  /** The element in the picture that shows the current subtitle. */
  readonly caption: RefObject<HTMLElement | null>;
  readonly cut: CutText;
}

/**
 * Keeps the list of subtitles at the one that is played, or else at the caret. The marks are set
 * without React: for each update of the page, it walks through the whole edited text.
 */
export function useCueList(
  list: RefObject<HTMLElement | null>,
  { editor, playback, caption, cut }: Shown,
): {
  /** The subtitles to render. */
  readonly range: CueRange;
  /** Places the caret at the words of a subtitle. */
  readonly choose: (at: number) => void;
  /** Places the caret at the next or the previous subtitle that breaks a rule. */
  readonly step: (by: 1 | -1) => void;
  readonly listeners: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onScroll: () => void;
  };
} {
  const { length } = cut.cues;
  const { range, setRange, show, now } = useRows(list, editor, cut);
  useFollowing({ editor, playback, caption, cut }, show);
  const place = useCallback(
    (at: number): void => {
      editor.setCaret(caretOf(editor, cut, at));
      show(at);
    },
    [editor, cut, show],
  );
  const choose = useCallback(
    (at: number): void => {
      place(at);
      editor.view.focus();
    },
    [editor, place],
  );
  const step = (by: 1 | -1): void => {
    const from = now.current;
    const { broken } = cut;
    const next = by > 0 ? broken.find((at) => at > from) : broken.findLast((at) => at < from);
    // After the last one comes the first one.
    const to = next ?? broken.at(by > 0 ? 0 : -1);
    if (to !== undefined) place(to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") editor.view.focus();
    const to = neighbor(indexOf(event.target), length - 1, event.key);
    if (to === undefined) return;
    event.preventDefault();
    show(to, true);
  };
  const onScroll = (): void => {
    if (!list.current) return;
    const { scrollTop, scrollHeight, clientHeight } = list.current;
    const isAtEnd = scrollTop + clientHeight > scrollHeight - nearEndPx;
    if (isAtEnd) setRange((before) => extended(before, 1, length));
    else if (scrollTop < nearEndPx) setRange((before) => extended(before, -1, length));
  };
  return { range, choose, step, listeners: { onKeyDown, onScroll } };
}

/** Shows one subtitle as the current one; `isFocused` gives it the focus. */
type Show = (at: number, isFocused?: boolean) => void;

/** The rows of the list, and the current one of them. */
function useRows(list: RefObject<HTMLElement | null>, editor: Editor, cut: CutText) {
  const { length } = cut.cues;
  const [wanted, setRange] = useState<CueRange>(() =>
    rangeAround(caretCue(editor, cut) ?? 0, length),
  );
  const range = { first: Math.min(wanted.first, length), end: Math.min(wanted.end, length) };
  const now = useRef(-1);
  const isFocusWanted = useRef(false);
  const latest = useRef(cut);
  useLayoutEffect(() => {
    latest.current = cut;
  }, [cut]);
  const show = useCallback<Show>(
    (at, isFocused = false) => {
      if (at === now.current && !isFocused) return;
      now.current = at;
      setRange((before) => rangeWith(before, at, latest.current.cues.length));
      const isThere = list.current !== null && markCue(list.current, at, isFocused);
      // A row that is rendered later gets the focus then.
      isFocusWanted.current = isFocused && !isThere;
    },
    [list],
  );
  // Rows that were rendered now may include the current one.
  useLayoutEffect(() => {
    if (list.current) markCue(list.current, now.current, isFocusWanted.current);
    isFocusWanted.current = false;
  });
  return { range, setRange, show, now };
}

/** Follows what is played, or else the caret, and shows the current subtitle in the picture. */
function useFollowing({ editor, playback, caption, cut }: Shown, show: Show): void {
  useEffect(() => {
    const follow = (): void => {
      const at = playback?.state.isPlaying ? undefined : caretCue(editor, cut);
      if (at !== undefined) show(at);
    };
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const onSelection = (): void => {
      clearTimeout(waiting);
      waiting = setTimeout(follow, caretMs);
    };
    follow();
    document.addEventListener("selectionchange", onSelection);
    return () => {
      clearTimeout(waiting);
      document.removeEventListener("selectionchange", onSelection);
    };
  }, [editor, playback, cut, show]);
  useEffect(() => {
    if (!playback) return undefined;
    const picture = caption.current;
    const onPlace = (seconds: number, isSought: boolean): void => {
      const at = cueAt(cut.cues, seconds * 1000);
      const text = at === undefined ? "" : (cut.cues[at]?.lines ?? []).join("\n");
      if (picture && picture.textContent !== text) picture.textContent = text;
      const isFollowed = playback.state.isPlaying || isSought;
      if (isFollowed && at !== undefined) show(at);
    };
    const stop = playback.onPlace(onPlace);
    return () => {
      stop();
      if (picture) picture.textContent = "";
    };
  }, [playback, caption, cut, show]);
}

/** Returns the index of the subtitle at the caret; undefined if the text is newer. */
function caretCue(editor: Editor, cut: CutText): number | undefined {
  const { paragraph, offset } = editor.caret();
  const found = editor.paragraphs()[paragraph];
  return found && cut.indexAt({ paragraph: found, offset });
}

/** Returns the caret at the words of a subtitle; at its time, if the text is newer. */
function caretOf(editor: Editor, cut: CutText, at: number) {
  const place = cut.placeOf(at);
  const paragraph = place ? editor.paragraphs().indexOf(place.paragraph) : -1;
  if (place && paragraph >= 0) return { paragraph, offset: place.offset };
  return editor.places.caretAt(editor.state.doc, (cut.cues[at]?.startMs ?? 0) / 1000);
}

/**
 * Marks a subtitle as the current one and brings it into view in the list. Returns whether it is
 * there.
 */
function markCue(list: HTMLElement, at: number, isFocused: boolean): boolean {
  const rows = list.querySelectorAll<HTMLElement>("[data-cue]");
  for (const row of list.querySelectorAll<HTMLElement>("[aria-current], [tabindex='0']")) {
    row.removeAttribute("aria-current");
    row.tabIndex = -1;
  }
  const row = list.querySelector<HTMLElement>(`[data-cue="${at}"]`);
  // The list has one tab stop.
  const stop = row ?? rows[0];
  if (stop) stop.tabIndex = 0;
  if (!row) return false;
  row.setAttribute("aria-current", "true");
  const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
  const isAbove = top < list.scrollTop;
  const isBelow = bottom > list.scrollTop + list.clientHeight;
  if (isAbove || isBelow) list.scrollTop = top - list.clientHeight / 3;
  if (isFocused) row.focus({ preventScroll: true });
  return true;
}

function indexOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-cue]") : null;
  return row ? Number(row.dataset["cue"]) : undefined;
}

function neighbor(at: number | undefined, last: number, key: string): number | undefined {
  if (at === undefined) return undefined;
  if (key === "ArrowDown") return Math.min(at + 1, last);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}
