import type { SpokenSegment, SpokenWord } from "../spoken.ts";
import { subtitleRules } from "./subtitle-rules.ts";
import { isUnspaced, joinsUnspaced, unspacedWords } from "./unspaced.ts";
import { piecesOfChars, visibleChars } from "./visible-chars.ts";

/**
 * What a subtitle is not broken within: text without whitespace that fits a line, and when it is
 * said.
 */
export interface Atom {
  readonly text: string;
  readonly chars: number;
  readonly startMs: number;
  /** Not after the start of the next one. */
  readonly endMs: number;
  /** false: it follows the one before without a space. */
  readonly spaced: boolean;
}

/** Text that belongs together, and its time. */
interface Piece {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The atoms of a segment. Words are split at whitespace and joined where there is none; what is
 * longer than a line is broken where its words meet, and within a word as a last resort. Scripts
 * without spaces are broken between their words.
 */
export function atomsOf(segment: SpokenSegment): Atom[] {
  const atoms: Atom[] = [];
  let pending: Piece[] = [];
  let isPendingSpaced = true;
  const flush = (isNextSpaced: boolean): void => {
    for (const [index, piece] of fitted(pending).entries()) {
      atoms.push({
        ...piece,
        chars: visibleChars(piece.text),
        spaced: index === 0 && isPendingSpaced,
      });
    }
    pending = [];
    isPendingSpaced = isNextSpaced;
  };
  let isSpaced = true;
  for (const word of segment.words) {
    for (const { piece, spaceBefore } of chunksOf(word)) {
      isSpaced ||= spaceBefore;
      const previous = pending.at(-1);
      if (previous && (isSpaced || joinsUnspaced(previous.text, piece.text))) flush(isSpaced);
      for (const [index, part] of splitUnspaced(piece).entries()) {
        if (index > 0) flush(false);
        pending.push(part);
      }
      isSpaced = false;
    }
    isSpaced ||= /\s$/.test(word.text);
  }
  flush(true);
  return inOrder(atoms);
}

/** Whitespace that text may be broken at: not the kinds that are there to prevent it. */
const chunk = /(?:[^\s]|[\u00a0\u2007\u202f])+/g;

function* chunksOf(word: SpokenWord): Generator<{ piece: Piece; spaceBefore: boolean }> {
  const { text, startMs, endMs } = word;
  const spaces = text.length - text.trimStart().length;
  const length = text.trim().length;
  for (const { 0: part, index } of text.matchAll(chunk)) {
    const piece =
      part.length >= length
        ? { text: part, startMs, endMs }
        : shareOf(word, length, part, index - spaces);
    yield { piece, spaceBefore: index > 0 };
  }
}

/** A part of a text, with its share of the time by its length. */
function shareOf({ startMs, endMs }: Piece, length: number, text: string, at: number): Piece {
  const timeAt = (index: number) =>
    startMs + Math.round((endMs - startMs) * Math.max(0, Math.min(1, index / length)));
  return { text, startMs: timeAt(at), endMs: timeAt(at + text.length) };
}

function splitUnspaced(piece: Piece): Piece[] {
  return isUnspaced(piece.text) ? partsOf(piece, unspacedWords(piece.text)) : [piece];
}

function partsOf(piece: Piece, texts: readonly string[]): Piece[] {
  let at = 0;
  return texts.map((text) => {
    const part = shareOf(piece, piece.text.length, text, at);
    at += text.length;
    return part;
  });
}

/** Pieces that belong together, joined as far as a line goes. */
function fitted(pieces: readonly Piece[]): Piece[] {
  const [only] = pieces;
  if (pieces.length === 1 && only && only.text.length <= subtitleRules.lineChars) return [only];
  const found: Piece[] = [];
  let previousChars = Infinity;
  for (const whole of pieces) {
    const texts = piecesOfChars(whole.text, subtitleRules.lineChars);
    for (const piece of partsOf(whole, texts)) {
      const chars = visibleChars(piece.text);
      const previous = found.at(-1);
      if (previous && previousChars + chars <= subtitleRules.lineChars) {
        found[found.length - 1] = joined(previous, piece);
        previousChars += chars;
      } else {
        found.push(piece);
        previousChars = chars;
      }
    }
  }
  return found;
}

function joined(before: Piece, after: Piece): Piece {
  return { text: before.text + after.text, startMs: before.startMs, endMs: after.endMs };
}

/**
 * With times that do not overlap. Those that begin together share the time until the next begins,
 * by their length: callers who know no times of words give them those of the segment.
 */
function inOrder(atoms: readonly Atom[]): Atom[] {
  const found: Atom[] = [];
  for (let from = 0; from < atoms.length;) {
    const startMs = atoms[from]?.startMs ?? 0;
    let to = from + 1;
    let endMs = atoms[from]?.endMs ?? 0;
    for (; atoms[to]?.startMs === startMs; to += 1) {
      endMs = Math.max(endMs, atoms[to]?.endMs ?? 0);
    }
    const spanMs = Math.max(0, Math.min(endMs, atoms[to]?.startMs ?? Infinity) - startMs);
    const group = atoms.slice(from, to);
    const chars = group.reduce((sum, atom) => sum + atom.chars, 0);
    let charsBefore = 0;
    for (const atom of group) {
      const timeAt = (at: number) => startMs + Math.round((spanMs * at) / chars);
      const times = { startMs: timeAt(charsBefore), endMs: timeAt(charsBefore + atom.chars) };
      found.push({ ...atom, ...times });
      charsBefore += atom.chars;
    }
    from = to;
  }
  return found;
}
