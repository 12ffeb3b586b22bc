import { matchWords } from "../../../../std/word-matches/match-words.ts";
import { textOfRun, type Base } from "./base.ts";
import type { Block } from "./block.ts";

/**
 * Finds which words of the run [from, to) are unchanged in a text in which no spaces separate
 * words, as in Japanese. A word is unchanged if all its characters are.
 */
export function alignGlued(base: Base, from: number, to: number, text: string): Block[] {
  const before = Array.from(textOfRun(base, from, to).trimEnd());
  const after = Array.from(text.trimEnd());
  const { before: pairs, after: otherPairs } = matchWords(codesOf(before), codesOf(after));
  const otherAt = new Int32Array(before.length).fill(-1);
  for (const [index, at] of pairs.entries()) otherAt[at] = otherPairs[index] ?? -1;
  const blocks: Block[] = [];
  let done = { word: from, after: 0 };
  const closeAt = (word: number, place: number): void => {
    const texts = done.after < place ? [after.slice(done.after, place).join("")] : [];
    if (word > done.word || texts.length > 0) {
      blocks.push({ kind: "changed", from: done.word, to: word, texts });
    }
  };
  let begin = 0;
  for (let word = from; word < to; word += 1) {
    const length = Array.from(base.words[word]?.word ?? "").length;
    const count = Math.min(length, before.length - begin);
    const first = otherAt[begin] ?? -1;
    if (count > 0 && isContiguous(otherAt, begin, count)) {
      closeAt(word, first);
      const said = after.slice(first, first + count).join("");
      blocks.push({ kind: "unchanged", word, text: said });
      done = { word: word + 1, after: first + count };
    }
    begin += count;
  }
  closeAt(to, after.length);
  return withEnd(blocks, text.slice(text.trimEnd().length));
}

/** Adds the whitespace at the end of a text to its last word. */
function withEnd(blocks: readonly Block[], end: string): Block[] {
  const at = blocks.findLastIndex((one) => one.kind === "unchanged" || one.texts.length > 0);
  const last = blocks[at];
  if (!last || end === "") return [...blocks];
  if (last.kind === "unchanged") return blocks.with(at, { ...last, text: last.text + end });
  const texts = [...last.texts.slice(0, -1), (last.texts.at(-1) ?? "") + end];
  return blocks.with(at, { ...last, texts });
}

function codesOf(characters: readonly string[]): Int32Array {
  return Int32Array.from(characters, (character) => character.codePointAt(0) ?? 0);
}

/** Whether consecutive characters are consecutive in the other text, too. */
function isContiguous(otherAt: Int32Array, begin: number, count: number): boolean {
  const first = otherAt[begin] ?? -1;
  for (let at = 0; at < count; at += 1) {
    if (first < 0 || otherAt[begin + at] !== first + at) return false;
  }
  return true;
}
