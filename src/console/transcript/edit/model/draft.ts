import { paragraphsOf, textOfRun, type Base, type EditedParagraph } from "./base.ts";
import type { Pin } from "./pin.ts";
import { noRetimings, type Retimings, type WordTimes } from "./retimings.ts";

/**
 * The maximum size of a draft in bytes of UTF-8. The service accepts less, 8 MiB, but of the
 * compressed draft (docs/api.md).
 */
export const draftBytesMax = 64 * 1024 * 1024;

/** The version of the format. Drafts of a newer one are refused. */
const formatVersion = 1;

/** The reason why a draft cannot be used. */
export class DraftError extends Error {
  readonly reason: "damaged" | "newerFormat" | "otherBase" | "tooLarge";

  constructor(reason: DraftError["reason"], message: string) {
    super(message);
    this.name = "DraftError";
    this.reason = reason;
  }
}

/** A stored draft, which is plain data. */
export interface Draft {
  readonly format: number;
  /** The id of the version that was edited. */
  readonly version: string;
  /** The numbers of words and of UTF-16 code units of that version, as a check. */
  readonly words: number;
  readonly chars: number;
  /** Paragraphs that were edited, and between them ranges of words that were not. */
  readonly parts: readonly DraftPart[];
  readonly times: readonly (readonly [word: number, startTime: string, endTime: string])[];
}

type DraftPart = { readonly from: number; readonly to: number } | EditedParagraph;

/**
 * Writes a draft of an edited text: the paragraphs that were edited, and of the others only where
 * they are. Throws a DraftError if it is too large.
 */
export function encodeDraft({
  base,
  version,
  paragraphs,
  retimings = noRetimings,
}: {
  readonly base: Base;
  readonly version: string;
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings?: Retimings;
}): string {
  const own = ownOf(base);
  const parts: DraftPart[] = [];
  for (const paragraph of paragraphs) {
    const { from, to } = paragraph;
    const last = parts.at(-1);
    if (!isOwn(own, paragraph)) parts.push(paragraph);
    else if (last && !("text" in last)) parts[parts.length - 1] = { from: last.from, to };
    else parts.push({ from, to });
  }
  const draft: Draft = {
    format: formatVersion,
    version,
    words: base.words.length,
    chars: base.text.length,
    parts,
    times: Array.from(retimings, ([word, { startTime, endTime }]) => [word, startTime, endTime]),
  };
  const json = JSON.stringify(draft);
  checkSize(json);
  return json;
}

/** The paragraphs of a base by their first word, and those of its texts that are the same. */
interface OwnParagraphs {
  readonly byFrom: ReadonlyMap<number, EditedParagraph>;
  readonly same: WeakSet<EditedParagraph>;
}

const known = new WeakMap<Base, OwnParagraphs>();

/** Returns the paragraphs of a base. They are kept, since drafts are written often. */
function ownOf(base: Base): OwnParagraphs {
  const before = known.get(base);
  if (before) return before;
  const byFrom = new Map(paragraphsOf(base).map((paragraph) => [paragraph.from, paragraph]));
  const own = { byFrom, same: new WeakSet<EditedParagraph>() };
  known.set(base, own);
  return own;
}

function isOwn({ byFrom, same }: OwnParagraphs, paragraph: EditedParagraph): boolean {
  if (same.has(paragraph)) return true;
  const isOwn = isSame(byFrom.get(paragraph.from), paragraph);
  if (isOwn) same.add(paragraph);
  return isOwn;
}

function isSame(own: EditedParagraph | undefined, paragraph: EditedParagraph): boolean {
  return (
    own?.to === paragraph.to &&
    own.speaker === paragraph.speaker &&
    own.isSoft === paragraph.isSoft &&
    paragraph.pins === undefined &&
    own.text === paragraph.text
  );
}

function checkSize(json: string): void {
  // A code unit is at most three bytes of UTF-8.
  if (json.length * 3 <= draftBytesMax) return;
  const bytes = new TextEncoder().encode(json).length;
  if (bytes <= draftBytesMax) return;
  throw new DraftError("tooLarge", `has ${bytes} bytes; at most ${draftBytesMax} are allowed`);
}

/**
 * Reads a draft, before its base is loaded. Throws a DraftError if it is damaged, too large or of a
 * newer format.
 */
export function readDraft(json: string): Draft {
  checkSize(json);
  const value = parsed(json);
  if (!isObject(value)) throw damaged("is not an object");
  const { format, version, words, chars, parts, times } = value;
  if (typeof format === "number" && format > formatVersion) {
    throw new DraftError("newerFormat", `has format ${format}, not ${formatVersion}`);
  }
  if (format !== formatVersion) throw damaged("has no format");
  if (typeof version !== "string") throw damaged("has no version");
  if (!isCount(words) || !isCount(chars)) throw damaged("has no size of its base");
  if (!Array.isArray(parts) || !Array.isArray(times)) throw damaged("has no parts");
  return {
    format,
    version,
    words,
    chars,
    parts: readParts(parts, words),
    times: times.map((item) => readTimes(item, words)),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw damaged("is not JSON");
  }
}

function damaged(message: string): DraftError {
  return new DraftError("damaged", message);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Reads parts, whose runs must follow each other and contain all words. */
function readParts(parts: readonly unknown[], words: number): DraftPart[] {
  let edge = 0;
  const read = parts.map((part): DraftPart => {
    if (!isObject(part)) throw damaged("has a part that is not an object");
    const { text, speaker, from, to, isSoft, pins } = part;
    if (!isCount(from) || !isCount(to) || from !== edge || to < from) {
      throw damaged(`has a part that does not begin with word ${edge}`);
    }
    edge = to;
    if (text === undefined) return { from, to };
    const isWhole =
      typeof text === "string" && typeof speaker === "string" && typeof isSoft === "boolean";
    if (!isWhole) throw damaged("has a paragraph without text, speaker or isSoft");
    const paragraph = { text, speaker, from, to, isSoft };
    return pins === undefined ? paragraph : { ...paragraph, pins: readPins(pins, text.length) };
  });
  if (edge !== words) throw damaged(`ends with word ${edge} of ${words}`);
  return read;
}

/** Reads the pins of a paragraph, which are in order and do not overlap. */
function readPins(pins: unknown, length: number): Pin[] {
  if (!Array.isArray(pins) || pins.length === 0) throw damaged("has pins that are not a list");
  let end = 0;
  return pins.map((pin: unknown) => {
    if (!isObject(pin)) throw damaged("has a pin that is not an object");
    const { from, to, startTime, endTime } = pin;
    const isPlace = isCount(from) && isCount(to) && from >= end && to > from && to <= length;
    if (!isPlace || !isTime(startTime) || !isTime(endTime)) {
      throw damaged("has a pin that is not in its text");
    }
    end = to;
    return { from, to, startTime, endTime };
  });
}

const durationPattern = /^\d{1,7}(?:\.\d{1,9})?s$/;

function isTime(value: unknown): value is string {
  return typeof value === "string" && durationPattern.test(value);
}

function readTimes(item: unknown, words: number): readonly [number, string, string] {
  const [word, startTime, endTime]: readonly unknown[] = Array.isArray(item) ? item : [];
  if (!isCount(word) || word >= words || !isTime(startTime) || !isTime(endTime)) {
    throw damaged("has times that are not of a word");
  }
  return [word, startTime, endTime];
}

/** Returns the edited text of a draft. Throws a DraftError if the base is not the one it needs. */
export function restoredDraft(
  draft: Draft,
  base: Base,
): { readonly paragraphs: EditedParagraph[]; readonly retimings: Retimings } {
  if (draft.words !== base.words.length || draft.chars !== base.text.length) {
    const message = `needs a version of ${draft.words} words, not ${base.words.length}`;
    throw new DraftError("otherBase", message);
  }
  const own = paragraphsOf(base);
  let next = 0;
  const paragraphs = draft.parts.flatMap((part): EditedParagraph[] => {
    if ("text" in part) return [part];
    const unedited: EditedParagraph[] = [];
    while (next < own.length && (own[next]?.to ?? 0) <= part.from) next += 1;
    for (let at = next; at < own.length && (own[at]?.from ?? 0) < part.to; at += 1) {
      const paragraph = own[at];
      if (paragraph) unedited.push(within(base, paragraph, part));
    }
    return unedited;
  });
  const times = draft.times.map(([word, startTime, endTime]): [number, WordTimes] => [
    word,
    { startTime, endTime },
  ]);
  return { paragraphs, retimings: new Map(times) };
}

/** Cuts a paragraph to a range of words, in case paragraphs were divided at other places before. */
function within(
  base: Base,
  paragraph: EditedParagraph,
  range: { readonly from: number; readonly to: number },
): EditedParagraph {
  const from = Math.max(paragraph.from, range.from);
  const to = Math.min(paragraph.to, range.to);
  if (from === paragraph.from && to === paragraph.to) return paragraph;
  const isSoft = paragraph.isSoft || from > paragraph.from;
  return { text: textOfRun(base, from, to), speaker: paragraph.speaker, from, to, isSoft };
}
