import { subtitleRules } from "./subtitle-rules.ts";
import type { TimedWord } from "./timed-words.ts";
import { isUnspaced, joinsUnspaced, unspacedWords } from "./unspaced.ts";
import { sectionsOfChars, visibleChars } from "./visible-chars.ts";

/** A text that a subtitle does not break: it has no whitespace, and fits on a line. */
export interface Atom {
  readonly text: string;
  readonly chars: number;
  readonly startMs: number;
  /** The time at which the atom ends, which is not after the start of the next atom. */
  readonly endMs: number;
  /** Whether a space precedes the atom; false if it follows the previous atom without one. */
  readonly spaced: boolean;
}

/**
 * Splits the words of a segment into atoms. Words are split at whitespace and joined where there is
 * none. A text longer than a line is broken between its words, or within a word as a last resort.
 * Scripts without spaces are broken between words.
 */
export function atomsOf(
  words: readonly TimedWord[],
  lineChars: number = subtitleRules.lineChars,
): Atom[] {
  const atoms: Atom[] = [];
  let pending: TimedWord[] = [];
  let isPendingSpaced = true;
  const flush = (isNextSpaced: boolean): void => {
    for (const [index, piece] of fitted(pending, lineChars).entries()) {
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
  for (const word of words) {
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

/**
 * Matches text up to whitespace at which a line can break; no-break spaces are part of the text.
 */
const chunk = /(?:[^\s]|[\u00a0\u2007\u202f])+/g;

function* chunksOf(word: TimedWord): Generator<{ piece: TimedWord; spaceBefore: boolean }> {
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

/**
 * Returns a part of a text, with a share of the time that is proportional to the length of the
 * part.
 */
function shareOf(
  { startMs, endMs }: TimedWord,
  length: number,
  text: string,
  at: number,
): TimedWord {
  const timeAt = (index: number) =>
    startMs + Math.round((endMs - startMs) * Math.max(0, Math.min(1, index / length)));
  return { text, startMs: timeAt(at), endMs: timeAt(at + text.length) };
}

function splitUnspaced(piece: TimedWord): TimedWord[] {
  return isUnspaced(piece.text) ? partsOf(piece, unspacedWords(piece.text)) : [piece];
}

function partsOf(piece: TimedWord, texts: readonly string[]): TimedWord[] {
  let at = 0;
  return texts.map((text) => {
    const part = shareOf(piece, piece.text.length, text, at);
    at += text.length;
    return part;
  });
}

/** Joins texts up to the length of a line. */
function fitted(pieces: readonly TimedWord[], lineChars: number): TimedWord[] {
  const [only] = pieces;
  if (pieces.length === 1 && only && only.text.length <= lineChars) return [only];
  const found: TimedWord[] = [];
  let previousChars = Infinity;
  for (const whole of pieces) {
    const texts = sectionsOfChars(whole.text, lineChars);
    for (const piece of partsOf(whole, texts)) {
      const chars = visibleChars(piece.text);
      const previous = found.at(-1);
      if (previous && previousChars + chars <= lineChars) {
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

function joined(before: TimedWord, after: TimedWord): TimedWord {
  return { text: before.text + after.text, startMs: before.startMs, endMs: after.endMs };
}

/**
 * Changes times so that atoms do not overlap. Atoms that begin at the same time share the time
 * until the next atom begins, in proportion to their lengths, because callers without word times
 * send the times of the segment for each word.
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
