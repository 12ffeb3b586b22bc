import { shown } from "../std/service-error.ts";
import { linesOf, type ReadCue, UnreadableFile } from "./subtitles/read-cue.ts";
import { transcriptLimits } from "./transcript-limits.ts";

/** The time that a character takes where the file has no times: about 150 words a minute. */
const charMs = 65;
/** The longest time that a character takes where the file has times: the rest is a pause. */
const charMsMax = 200;

/**
 * Reads a plain text as cues, one for each paragraph (docs/api.md, Transcripts). Paragraphs are
 * separated by empty lines; in a file without empty lines, each line is one. Times in brackets are
 * those of the words after them, and times that the file does not have are estimated from the
 * length of the text. `names` are the names of speakers that are known. Throws UnreadableFile.
 */
export function readTextFile(content: string, names: Iterable<string>): ReadCue[] {
  const paragraphsOfLines = paragraphsOf(linesOf(content));
  const tooMany = paragraphsOfLines[transcriptLimits.segments]?.[0];
  if (tooMany) {
    const count = `has ${paragraphsOfLines.length} paragraphs`;
    throw new UnreadableFile(
      tooMany.number,
      `${count}: at most ${transcriptLimits.segments} are allowed`,
    );
  }
  const written = paragraphsOfLines.map((lines) => partsOf(lines));
  checkOrder(written.flat());
  const speakers = speakersIn(written, new Set(names));
  const paragraphs = written.map((parts) => voiced(parts, speakers));
  const all = timed(paragraphs.flatMap(({ parts }) => parts));
  let from = 0;
  return paragraphs.map(({ voice, parts }): ReadCue => {
    const said = all.slice(from, from + parts.length);
    from += parts.length;
    const spans = said.map(({ text, startMs }) => ({ text: `${text}\n`, voice, fromMs: startMs }));
    return { startMs: said[0]?.startMs ?? 0, endMs: said.at(-1)?.endMs ?? 0, spans };
  });
}

interface Line {
  readonly text: string;
  readonly number: number;
}

/** A part of a paragraph: a time, if the file has one there, and the text up to the next time. */
interface Part {
  readonly fromMs: number | undefined;
  readonly text: string;
  readonly line: number;
}

function paragraphsOf(texts: readonly string[]): Line[][] {
  const lines = texts.map((text, index) => ({ text: text.trim(), number: index + 1 }));
  const last = lines.findLastIndex(({ text }) => text !== "");
  const first = lines.findIndex(({ text }) => text !== "");
  const written = lines.slice(Math.max(first, 0), last + 1);
  if (written.every(({ text }) => text !== "")) return written.map((line) => [line]);
  const paragraphs: Line[][] = [];
  let isNext = true;
  for (const line of written) {
    if (line.text === "") {
      isNext = true;
      continue;
    }
    const current = paragraphs.at(-1);
    if (current && !isNext) current.push(line);
    else paragraphs.push([line]);
    isNext = false;
  }
  return paragraphs;
}

/** Matches a time such as [1:02], [00:01:02] or [00:01:02.500], and the whitespace after it. */
const time = /\[(\d{1,4}):(\d{1,2})(?::(\d{1,2}))?(?:[.,](\d{1,3}))?\]\s*/g;

function partsOf(lines: readonly Line[]): Part[] {
  const parts: Part[] = [];
  for (const { text, number } of lines) {
    let from = 0;
    let fromMs: number | undefined;
    const add = (to: number): void => {
      const piece = text.slice(from, to).trim();
      if (piece !== "" || fromMs !== undefined) parts.push({ fromMs, text: piece, line: number });
      if (parts.length > transcriptLimits.words) {
        const most = `at most ${transcriptLimits.words} are allowed`;
        throw new UnreadableFile(number, `a paragraph has too many times and lines: ${most}`);
      }
    };
    for (const match of text.matchAll(time)) {
      add(match.index);
      fromMs = msOf(match, number);
      from = match.index + match[0].length;
    }
    add(text.length);
  }
  return parts;
}

function msOf(match: RegExpExecArray | RegExpMatchArray, line: number): number {
  const [written, first = "", second = "", third, fraction = ""] = match;
  const [hours, minutes, seconds] =
    third === undefined
      ? [0, Number(first), Number(second)]
      : [Number(first), Number(second), Number(third)];
  if (seconds > 59 || (third !== undefined && minutes > 59)) {
    const place = shown(written.trim());
    throw new UnreadableFile(line, `minutes and seconds must be 0 to 59: ${place}`);
  }
  const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number(fraction.padEnd(3, "0"));
  if (ms > transcriptLimits.hours * 3_600_000) throw tooLate(line);
  return ms;
}

function checkOrder(parts: readonly Part[]): void {
  let latest = 0;
  for (const { fromMs, line } of parts) {
    if (fromMs === undefined) continue;
    if (fromMs < latest) {
      throw new UnreadableFile(
        line,
        `the time ${clockOf(fromMs)} is before the time above it, ${clockOf(latest)}`,
      );
    }
    latest = fromMs;
  }
}

function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60]
    .map((part) => `${Math.floor(part)}`.padStart(2, "0"))
    .join(":");
}

interface TimedPart extends Part {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Returns when each part is said. Parts from one time of the file to the next share the time
 * between them in proportion to their lengths, unless there is more of it than speech needs.
 */
function timed(parts: readonly Part[]): TimedPart[] {
  const found: TimedPart[] = [];
  let from = 0;
  let fromMs = 0;
  while (from < parts.length) {
    fromMs = parts[from]?.fromMs ?? fromMs;
    let to = from + 1;
    while (to < parts.length && parts[to]?.fromMs === undefined) to += 1;
    const run = parts.slice(from, to);
    const chars = run.reduce((sum, { text }) => sum + text.length, 0);
    const nextMs = parts[to]?.fromMs;
    const lengthMs =
      nextMs === undefined ? chars * charMs : Math.min(nextMs - fromMs, chars * charMsMax);
    const startMs = fromMs;
    const timeAt = (at: number) => startMs + Math.round((lengthMs * at) / Math.max(chars, 1));
    let at = 0;
    for (const part of run) {
      const end = at + part.text.length;
      found.push({ ...part, startMs: timeAt(at), endMs: timeAt(end) });
      at = end;
    }
    fromMs = timeAt(chars);
    from = to;
  }
  const last = found.at(-1);
  if (last && last.endMs > transcriptLimits.hours * 3_600_000) throw tooLate(last.line);
  return found;
}

function tooLate(line: number): UnreadableFile {
  return new UnreadableFile(line, `times must be at most ${transcriptLimits.hours} hours`);
}

/** Matches a name and a colon at the beginning of a paragraph. */
const nameAtStart = /^([\p{L}\p{N}][^:!?]{0,59}):(?:\s+|$)/u;

function nameOf(paragraph: readonly Part[]): string | undefined {
  const first = paragraph.find(({ text }) => text !== "");
  return nameAtStart.exec(first?.text ?? "")?.[1]?.trim();
}

function hasText(paragraph: readonly Part[]): boolean {
  return paragraph.some(({ text }) => text !== "");
}

/**
 * Returns the names that are speakers: those that are known, those that begin several paragraphs,
 * and all if each paragraph begins with one. Otherwise a colon is a part of the text.
 */
function speakersIn(
  paragraphs: readonly (readonly Part[])[],
  known: ReadonlySet<string>,
): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const paragraph of paragraphs) {
    const name = nameOf(paragraph);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const named = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const isEach = named === paragraphs.filter(hasText).length;
  return new Set(
    [...counts]
      .filter(([name, count]) => isEach || count > 1 || known.has(name))
      .map(([name]) => name),
  );
}

/** Returns a paragraph with its speaker, whose name is no longer a part of the text. */
function voiced(
  parts: readonly Part[],
  speakers: ReadonlySet<string>,
): { readonly voice: string; readonly parts: readonly Part[] } {
  const name = nameOf(parts);
  if (name === undefined || !speakers.has(name)) return { voice: "", parts };
  const named = parts.findIndex(({ text }) => text !== "");
  const text = parts[named]?.text.replace(nameAtStart, "") ?? "";
  return {
    voice: name,
    parts: parts.map((part, index) => (index === named ? { ...part, text } : part)),
  };
}
