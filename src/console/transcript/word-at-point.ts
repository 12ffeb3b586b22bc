import { paragraphsPerPart } from "./playback-highlight.ts";
import { extentOfWord, wordAtOffset, type SpokenText } from "./spoken-text.ts";

/** The distance from a word within which a click still counts, in pixels. */
const slackPx = 3;

/** The word at a point of the window, or undefined. `root` is the same as in PlaybackHighlight. */
export function wordAtPoint(
  root: HTMLElement,
  text: SpokenText,
  { x, y }: { readonly x: number; readonly y: number },
): number | undefined {
  const place = caretAt(x, y);
  if (!(place?.node instanceof Text)) return undefined;
  const { node } = place;
  const segment = node.parentElement?.closest(".segment");
  const part = segment?.parentElement;
  if (!segment || !part || node.parentElement?.localName !== "p" || part.parentElement !== root)
    return undefined;
  const indexIn = (parent: Element, child: Element) => [...parent.children].indexOf(child);
  const paragraph = indexIn(root, part) * paragraphsPerPart + indexIn(part, segment);
  // If the point is to the right of a character's middle, the caret is before the next character,
  // which may belong to another word.
  for (const offset of [place.offset, place.offset - 1]) {
    const word = wordAtOffset(text, paragraph, Math.max(0, offset));
    const { from, to } = extentOfWord(text, word);
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    if ([...range.getClientRects()].some((rect) => isIn(rect, x, y))) return word;
  }
  return undefined;
}

function isIn({ left, right, top, bottom }: DOMRect, x: number, y: number): boolean {
  const isWithinX = x >= left - slackPx && x <= right + slackPx;
  return isWithinX && y >= top - slackPx && y <= bottom + slackPx;
}

function caretAt(x: number, y: number): { node: Node; offset: number } | undefined {
  if (typeof document.caretPositionFromPoint === "function") {
    const caret = document.caretPositionFromPoint(x, y);
    return caret ? { node: caret.offsetNode, offset: caret.offset } : undefined;
  }
  // Older browsers have only this method.
  const range = document.caretRangeFromPoint(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : undefined;
}
