import { alignRun } from "./align-run.ts";
import { stepWords } from "./align-tokens.ts";
import { textOfRun, type Base, type EditedParagraph } from "./base.ts";
import { groupsOf } from "./edited-segments.ts";
import { matchVersionsSteps } from "./match-versions.ts";
import type { Pin } from "./pin.ts";
import { pinsWithin } from "./pins.ts";

/** A word of one side of a merge, or the place of an empty paragraph. */
export interface SideToken {
  readonly text: string;
  /** The word of the base that this is; -1 if the side has added it. */
  readonly ref: number;
  readonly speaker: string;
  /** Whether a segment begins here, or a paragraph within a segment. */
  readonly begins: "segment" | "paragraph" | "";
  /** The run's first word, if a paragraph begins here. */
  readonly from: number;
  /** The pins in the text, if there are any. */
  readonly pins?: readonly Pin[];
}

/** One side of a merge: its words, and where the words of the base are among them. */
export interface Side {
  readonly tokens: readonly SideToken[];
  /** For each word of the base, the index of its token; -1 if the side has removed it. */
  readonly places: Int32Array;
}

/** Returns the side of an edited text, and yields after each segment. */
export function* editedSideSteps(
  base: Base,
  paragraphs: readonly EditedParagraph[],
): Generator<void, Side, void> {
  const tokens: SideToken[] = [];
  for (const group of groupsOf(paragraphs)) {
    for (const [index, paragraph] of group.entries()) {
      let begins: SideToken["begins"] = index === 0 ? "segment" : "paragraph";
      const { speaker, from } = paragraph;
      let offset = 0;
      const add = (text: string, ref: number): void => {
        const pins = pinsWithin(paragraph.pins, offset, offset + text.length);
        tokens.push({ text, ref, speaker, begins, from, ...(pins.length > 0 && { pins }) });
        begins = "";
        offset += text.length;
      };
      const isEmptied = from === paragraph.to || textOfRun(base, from, paragraph.to) !== "";
      if (paragraph.text === "" && isEmptied) add("", -1);
      else addWords(base, paragraph, add);
    }
    yield;
  }
  return sideOf(base, tokens);
}

function addWords(
  base: Base,
  { text, from, to }: EditedParagraph,
  add: (text: string, ref: number) => void,
): void {
  if (textOfRun(base, from, to) === text) {
    for (let word = from; word < to; word += 1) add(base.words[word]?.word ?? "", word);
    return;
  }
  for (const block of alignRun(base, from, to, text)) {
    if (block.kind === "unchanged") add(block.text, block.word);
    else for (const each of block.texts) add(each, -1);
  }
}

/** Returns the side of a version, and yields often. Its tokens are its words. */
export function* versionSideSteps(
  base: Base,
  version: Base,
  mine?: Side,
): Generator<void, Side, void> {
  const refs = mine && (yield* matchVersionsSteps(base, version, mine));
  const tokens: SideToken[] = [];
  for (const { words = [], speakerId: speaker = "" } of version.segments) {
    for (const [index, { word: text = "" }] of words.entries()) {
      const at = tokens.length;
      const ref = refs ? (refs[at] ?? -1) : at;
      tokens.push({ text, ref, speaker, begins: index === 0 ? "segment" : "", from: at });
    }
    yield;
  }
  return sideOf(base, tokens);
}

function sideOf(base: Base, tokens: readonly SideToken[]): Side {
  const places = new Int32Array(base.words.length).fill(-1);
  for (let at = 0; at < tokens.length; at += 1) {
    const { ref = -1 } = tokens[at] ?? {};
    if (ref >= 0) places[ref] = at;
  }
  return { tokens, places };
}

/**
 * A change of one side: its tokens [tokenFrom, tokenTo) replace the words [from, to) of the base.
 */
export interface SideHunk {
  readonly from: number;
  readonly to: number;
  readonly tokenFrom: number;
  readonly tokenTo: number;
}

/** Returns what a side has added and removed, in order, and yields often. */
export function* hunksOfSteps({ tokens, places }: Side): Generator<void, SideHunk[], void> {
  const hunks: SideHunk[] = [];
  let [from, tokenFrom] = [0, 0];
  const closeAt = (to: number, tokenTo: number): void => {
    if (from < to || tokenFrom < tokenTo) hunks.push({ from, to, tokenFrom, tokenTo });
  };
  for (let word = 0; word < places.length; word += 1) {
    if (word % (8 * stepWords) === 0) yield;
    const place = places[word] ?? -1;
    if (place < 0) continue;
    closeAt(word, place);
    [from, tokenFrom] = [word + 1, place + 1];
  }
  closeAt(places.length, tokens.length);
  return hunks;
}
