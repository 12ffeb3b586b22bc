import { alignRun } from "./align-run.ts";
import type { Base, EditedParagraph } from "./base.ts";
import { movedPins, pinsWithin, withPins } from "./pins.ts";

/**
 * Returns the edge between words of the base at which a paragraph's run is divided if its text is
 * divided at an offset. Deleted words belong to the text before them; a divided word belongs to the
 * side that has most of it.
 */
export function edgeAt(base: Base, { from, to, text }: EditedParagraph, offset: number): number {
  let edge = from;
  let begin = 0;
  for (const block of alignRun(base, from, to, text)) {
    const texts = block.kind === "unchanged" ? [block.text] : block.texts;
    const length = texts.reduce((total, each) => total + each.length, 0);
    const range = block.kind === "unchanged" ? { from: block.word, to: block.word + 1 } : block;
    if (begin >= offset && length > 0) return edge;
    const end = begin + length;
    if (end <= offset) {
      edge = range.to;
    } else {
      const said = texts.join("").trimEnd().length;
      const share = said === 0 ? 0 : Math.min(1, (offset - begin) / said);
      return range.from + Math.round(share * (range.to - range.from));
    }
    begin = end;
  }
  return edge;
}

/** Divides a paragraph. Whitespace at the offset stays before it. */
export function dividedAt(
  base: Base,
  paragraph: EditedParagraph,
  offset: number,
): [EditedParagraph, EditedParagraph] {
  const rest = paragraph.text.slice(offset);
  const at = offset + rest.length - rest.trimStart().length;
  const edge = edgeAt(base, paragraph, at);
  const { text, pins } = paragraph;
  return [
    withPins({ ...paragraph, text: text.slice(0, at), to: edge }, pinsWithin(pins, 0, at)),
    withPins(
      { ...paragraph, text: text.slice(at), from: edge, isSoft: false },
      pinsWithin(pins, at),
    ),
  ];
}

/** Joins a paragraph with the next one, whose words then have the speaker of the first. */
export function joined(one: EditedParagraph, next: EditedParagraph): EditedParagraph {
  const text = joinedTexts(one.text, next.text);
  const added = movedPins(next.pins, text.length - next.text.length);
  return withPins({ ...one, text, to: next.to }, [...(one.pins ?? []), ...added]);
}

/** Joins two texts, with a space between their words if there is no whitespace yet. */
export function joinedTexts(one: string, other: string): string {
  const isApart = one === "" || other === "" || /\s$/.test(one) || /^\s/.test(other);
  return isApart ? one + other : `${one} ${other}`;
}
