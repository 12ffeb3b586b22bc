import { alignRun } from "./align-run.ts";
import type { Base, EditedParagraph } from "./base.ts";
import type { Block } from "./block.ts";
import { joinedTexts } from "./divide.ts";

/**
 * Returns where the runs of consecutive paragraphs should begin, after text was moved between them,
 * so that words are in the run of the paragraph that says them. Returns undefined if no more words
 * would have their own sound than now.
 */
export function movedEdges(
  base: Base,
  paragraphs: readonly EditedParagraph[],
): readonly number[] | undefined {
  const [first, last] = [paragraphs[0], paragraphs.at(-1)];
  if (!first || !last || first === last) return undefined;
  const offsets: number[] = [];
  let text = "";
  for (const paragraph of paragraphs) {
    const joined = joinedTexts(text, paragraph.text);
    offsets.push(joined.length - paragraph.text.length);
    text = joined;
  }
  const blocks = placed(alignRun(base, first.from, last.to, text));
  const froms = paragraphs.map(({ from }, at) =>
    at === 0 ? from : edgeNear(from, { base, text, blocks }, offsets[at] ?? 0),
  );
  const moved = paragraphs.map((paragraph, at) => {
    return { ...paragraph, from: froms[at] ?? 0, to: froms[at + 1] ?? last.to };
  });
  const ownWords = (all: readonly EditedParagraph[]): number =>
    all.reduce((sum, paragraph) => sum + keptWords(base, paragraph), 0);
  return ownWords(moved) > ownWords(paragraphs) ? froms : undefined;
}

interface PlacedBlock {
  /** The words of the base. */
  readonly from: number;
  readonly to: number;
  /** The range in the text, without whitespace around it. */
  readonly begin: number;
  readonly end: number;
  /** The number of its code units without whitespace. */
  readonly letters: number;
}

/** Returns the blocks that have text. */
function placed(blocks: readonly Block[]): PlacedBlock[] {
  let offset = 0;
  return blocks.flatMap((block) => {
    const said = block.kind === "unchanged" ? block.text : block.texts.join("");
    const [from, to] =
      block.kind === "unchanged" ? [block.word, block.word + 1] : [block.from, block.to];
    const begin = offset + said.length - said.trimStart().length;
    const end = offset + said.trimEnd().length;
    offset += said.length;
    return begin < end ? [{ from, to, begin, end, letters: lettersIn(said) }] : [];
  });
}

/** Returns the edge next to the present one that divides the words at an offset of the text. */
function edgeNear(
  edge: number,
  {
    base,
    text,
    blocks,
  }: { readonly base: Base; readonly text: string; readonly blocks: readonly PlacedBlock[] },
  offset: number,
): number {
  const before = blocks.findLast(({ end }) => end <= offset);
  const after = blocks.find(({ begin }) => begin >= offset);
  const across = blocks.find(({ begin, end }) => begin < offset && offset < end);
  if (across) return edgeWithin(base, across, text.slice(across.begin, offset));
  return Math.min(Math.max(edge, before?.to ?? 0), after?.from ?? Infinity);
}

/** Returns the edge between the words of a block that divides it as the text before it does. */
function edgeWithin(base: Base, { from, to, letters }: PlacedBlock, before: string): number {
  const lengths = base.words.slice(from, to).map(({ word = "" }) => lettersIn(word));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const wanted = (lettersIn(before) / letters) * total;
  let [edge, length] = [from, 0];
  for (const next of lengths) {
    if (Math.abs(length + next - wanted) > Math.abs(length - wanted)) break;
    length += next;
    edge += 1;
  }
  return edge;
}

function lettersIn(text: string): number {
  return text.replaceAll(/\s/g, "").length;
}

/** Counts the words of a paragraph's run that its text says, on their own or within other words. */
function keptWords(base: Base, { from, to, text }: EditedParagraph): number {
  let count = 0;
  for (const block of alignRun(base, from, to, text)) {
    if (block.kind === "unchanged") {
      if (block.text.trim() !== "") count += 1;
      continue;
    }
    const said = block.texts.join("");
    let at = 0;
    for (const { word = "" } of base.words.slice(block.from, block.to)) {
      const found = word.trim() === "" ? -1 : said.indexOf(word.trim(), at);
      if (found < 0) continue;
      count += 1;
      at = found + word.trim().length;
    }
  }
  return count;
}
