import { type Key, type LimitName, limitNames } from "./key.ts";

/** The limits of a key as a form has them: numbers as text, "" for none. */
export type LimitTexts = Readonly<Record<LimitName, string>>;

export function textsOf(limits: Key["limits"]): LimitTexts {
  const text = (name: LimitName) => (limits[name] ? `${limits[name]}` : "");
  return {
    requestsPerMinute: text("requestsPerMinute"),
    concurrentStreams: text("concurrentStreams"),
    queuedJobs: text("queuedJobs"),
    audioSecondsPerDay: text("audioSecondsPerDay"),
  };
}

/** Returns whether a text is a limit: a whole number, or nothing. */
export function isLimit(text: string): boolean {
  return /^\s*\d{0,10}\s*$/.test(text);
}

export function areLimits(limits: LimitTexts): boolean {
  return limitNames.every((name) => isLimit(limits[name]));
}

/** Returns the limits that are set; an empty message removes all limits of a key. */
export function numbersOf(limits: LimitTexts): Partial<Record<LimitName, number>> {
  const set = limitNames.filter((name) => Number(limits[name]) > 0);
  return Object.fromEntries(set.map((name) => [name, Number(limits[name])]));
}
