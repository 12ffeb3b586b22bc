import { shown } from "../../std/service-error.ts";
import { UnreadableFile } from "./read-cue.ts";

export interface Timing {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Matches a time. Hours can be omitted, a comma and a period are equivalent, and the fraction of a
 * second is a number of milliseconds.
 */
const time = String.raw`(?:(\d{1,5}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3}))?`;
/**
 * Matches the times of a cue. The text after them contains settings or the coordinates of the cue's
 * position.
 */
const timing = new RegExp(String.raw`^\s*${time}\s*-->\s*${time}(?:\s.*)?$`);
const onlyTime = new RegExp(`^${time}$`);
/** The limit of times (§2.3, Segment). */
const hoursMax = 1_000;

/** Whether a line can only be the times of a cue. */
export function isTiming(line: string): boolean {
  return timing.test(line);
}

/** Returns the times of a cue from the line with this number. Throws UnreadableFile. */
export function readTiming(line: string, number: number): Timing {
  const found = timing.exec(line);
  if (!found) {
    const example = "00:00:01,000 --> 00:00:02,500";
    throw new UnreadableFile(number, `times such as ${example} are expected, not ${shown(line)}`);
  }
  const startMs = msOf(found.slice(1, 5), number);
  const endMs = msOf(found.slice(5, 9), number);
  if (endMs < startMs) {
    throw new UnreadableFile(number, `the cue ends before it begins: ${shown(line.trim())}`);
  }
  return { startMs, endMs };
}

/** Returns the milliseconds of a single time, or undefined if the text is not a time. */
export function readTime(text: string): number | undefined {
  const found = onlyTime.exec(text);
  return found ? toMs(found.slice(1, 5)) : undefined;
}

function msOf(parts: readonly (string | undefined)[], number: number): number {
  const [, minutes, seconds] = parts;
  if (Number(minutes) > 59 || Number(seconds) > 59) {
    throw new UnreadableFile(number, "minutes and seconds must be 0 to 59");
  }
  const ms = toMs(parts);
  if (ms > hoursMax * 3_600_000) {
    throw new UnreadableFile(number, `times must be at most ${hoursMax} hours`);
  }
  return ms;
}

function toMs([hours = "0", minutes, seconds, ms = "0"]: readonly (string | undefined)[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms);
}
