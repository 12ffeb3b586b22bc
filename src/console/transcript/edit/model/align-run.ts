import { alignGlued } from "./align-glued.ts";
import { alignTokens } from "./align-tokens.ts";
import { segmentOfWord, textOfRun, type Base } from "./base.ts";
import type { Block } from "./block.ts";
import { tokensOf } from "./tokens.ts";

/**
 * Finds which words of the run [from, to) are unchanged in a text. The texts of all blocks joined
 * are the text.
 */
export function alignRun(base: Base, from: number, to: number, text: string): Block[] {
  if (textOfRun(base, from, to) === text) {
    return Array.from({ length: to - from }, (_, at) => unchanged(base, from + at));
  }
  const run = spacedRun(base, from, to);
  const before = tokensOf(run.text);
  const after = tokensOf(text);
  const begins = before.map((token) => token.begin);
  const wordOfEdge = edgesOf(base, { from, offsets: run.offsets, begins: new Set(begins) });
  const links = alignTokens(
    before.map(({ word }) => word),
    after.map(({ word }) => word),
  );
  const blocks: Block[] = [];
  const open = { word: from, otherFrom: 0, isSame: true };
  for (const link of links) {
    open.isSame &&= link.isSame;
    const word = link.to === before.length ? to : wordOfEdge.get(begins[link.to] ?? 0);
    if (word === undefined) continue;
    const texts = after
      .slice(open.otherFrom, link.otherTo)
      .map((token) => text.slice(token.from, token.to));
    const range = { from: open.word, to: word };
    const added = open.isSame
      ? keptBlocks(base, range, texts.join(""))
      : changedBlocks(base, range, texts);
    for (const block of added) blocks.push(block);
    Object.assign(open, { word, otherFrom: link.otherTo, isSame: true });
  }
  return withSpaces(base, blocks);
}

/**
 * Returns the text of the run [from, to) as a joined paragraph has it, with a space between
 * segments that have none, and the offset of each word.
 */
function spacedRun(
  base: Base,
  from: number,
  to: number,
): { readonly text: string; readonly offsets: Uint32Array } {
  const offsets = new Uint32Array(to - from);
  let text = "";
  const { words, firsts } = base;
  let next = segmentOfWord(base, from) + 1;
  let isNew = false;
  for (let word = from; word < to; word += 1) {
    for (; (firsts[next] ?? Infinity) <= word; next += 1) isNew = true;
    const said = words[word]?.word ?? "";
    if (said !== "") {
      const isApart = !isNew || text === "" || /\s$/.test(text) || /^\s/.test(said);
      if (!isApart) text += " ";
      isNew = false;
    }
    offsets[word - from] = text.length;
    text += said;
  }
  return { text, offsets };
}

function changedBlocks(
  base: Base,
  { from, to }: { readonly from: number; readonly to: number },
  texts: readonly string[],
): Block[] {
  const [text = ""] = texts;
  const isOneWord = texts.length === 1 && text.trim() !== "";
  const isGlued = isOneWord && to - from > 1 && !/\s/.test(textOfRun(base, from, to).trim());
  if (isGlued) return alignGlued(base, from, to, text);
  return [{ kind: "changed", from, to, texts }];
}

function unchanged(base: Base, word: number): Block {
  return { kind: "unchanged", word, text: base.words[word]?.word ?? "" };
}

/**
 * Returns the places in the text of a run at which both a word of the base and a token begin, after
 * whitespace, each with the index of the word. Words of the base may contain spaces, or be joined
 * without a space.
 */
function edgesOf(
  base: Base,
  {
    from,
    offsets,
    begins,
  }: { readonly from: number; readonly offsets: Uint32Array; readonly begins: Set<number> },
): Map<number, number> {
  const edges = new Map<number, number>();
  for (const [at, begin] of offsets.entries()) {
    const word = from + at;
    const text = base.words[word]?.word ?? "";
    const offset = begin + spaceBefore(text).length;
    if (text.trim() !== "" && begins.has(offset)) edges.set(offset, word);
  }
  return edges;
}

function spaceBefore(text: string): string {
  return text.slice(0, text.length - text.trimStart().length);
}

function spaceAfter(text: string): string {
  return text.slice(text.trimEnd().length);
}

/**
 * Divides the whitespace between words as the base does. It usually belongs to the word before, but
 * some transcripts have it before words.
 */
function withSpaces(base: Base, blocks: Block[]): Block[] {
  let last = -1;
  for (const [index, block] of blocks.entries()) {
    const [one, next] = [blocks[last], block];
    const nextText = next.kind === "unchanged" ? next.text : next.texts[0];
    if (nextText === undefined) continue;
    const text = one?.kind === "unchanged" ? one.text : (one?.texts.at(-1) ?? "");
    // A word that is nothing but whitespace keeps it.
    if (one && text.trim() !== "" && nextText.trim() !== "") {
      const space = spaceAfter(text) + spaceBefore(nextText);
      const own = ownSpace(base, { one, next, space });
      blocks[last] = withLastText(one, text.trimEnd() + own);
      blocks[index] = withFirstText(next, space.slice(own.length) + nextText.trimStart());
    }
    last = index;
  }
  return blocks;
}

function ownSpace(
  base: Base,
  { one, next, space }: { readonly one: Block; readonly next: Block; readonly space: string },
): string {
  const [text, nextText] = [one, next].map((block) =>
    block.kind === "unchanged" ? (base.words[block.word]?.word ?? "") : undefined,
  );
  const [after, before] = [text && spaceAfter(text), nextText && spaceBefore(nextText)];
  if (after !== undefined && after + (before ?? "") === space) return after;
  if (before && space.endsWith(before)) return space.slice(0, space.length - before.length);
  const isBeforeWords = after === "" && text !== undefined && spaceBefore(text) !== "";
  return isBeforeWords ? "" : space;
}

function withFirstText(block: Block, text: string): Block {
  if (block.kind === "unchanged") return { ...block, text };
  return { ...block, texts: [text, ...block.texts.slice(1)] };
}

function withLastText(block: Block, text: string): Block {
  if (block.kind === "unchanged") return { ...block, text };
  return { ...block, texts: [...block.texts.slice(0, -1), text] };
}

/**
 * Returns words that say the same as before; only the whitespace at the ends may have changed. It
 * then belongs to the first and the last word.
 */
function keptBlocks(
  base: Base,
  { from, to }: { readonly from: number; readonly to: number },
  text: string,
): Block[] {
  const before = textOfRun(base, from, to);
  if (before === text) {
    return Array.from({ length: to - from }, (_, at) => unchanged(base, from + at));
  }
  const core = before.trim();
  if (core === "" || text.trim() !== core) {
    const texts = tokensOf(text).map((token) => text.slice(token.from, token.to));
    return changedBlocks(base, { from, to }, texts);
  }
  const [lead, otherLead] = [before.indexOf(core), text.indexOf(core)];
  const first = (base.offsets[from] ?? 0) + lead;
  const placeOf = (word: number) =>
    Math.min(core.length, Math.max(0, (base.offsets[word] ?? 0) - first));
  const words = Array.from({ length: to - from }, (_, at) => from + at).filter(
    (word) => placeOf(word) < placeOf(word + 1),
  );
  return words.map((word, at) => {
    const begin = at === 0 ? 0 : otherLead + placeOf(word);
    const end = at === words.length - 1 ? text.length : otherLead + placeOf(word + 1);
    return { kind: "unchanged", word, text: text.slice(begin, end) };
  });
}
