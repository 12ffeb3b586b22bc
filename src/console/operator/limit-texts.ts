import type { OwnLimitsJson } from "../../gen/hlust/operator/v1/operator_pb.ts";

/** The names of the limits of an account. */
export const limitNames = [
  "requestsPerMinute",
  "concurrentStreams",
  "queuedJobs",
  "audioSecondsPerDay",
  "storedBytes",
] as const satisfies readonly (keyof OwnLimitsJson)[];
export type LimitName = (typeof limitNames)[number];

/** The limits of an account as a form has them: "" for the default of the service. */
export type LimitTexts = Readonly<Record<LimitName, string>>;

export function textsOf(limits: OwnLimitsJson = {}): LimitTexts {
  const text = (name: LimitName) => `${limits[name] ?? ""}`;
  return {
    requestsPerMinute: text("requestsPerMinute"),
    concurrentStreams: text("concurrentStreams"),
    queuedJobs: text("queuedJobs"),
    audioSecondsPerDay: text("audioSecondsPerDay"),
    storedBytes: text("storedBytes"),
  };
}

/** Returns whether a text is a limit: a whole number that the service accepts, or nothing. */
export function isLimit(name: LimitName, text: string): boolean {
  const max = name === "storedBytes" ? Number.MAX_SAFE_INTEGER : 2_147_483_647;
  return /^\s*\d*\s*$/.test(text) && Number(text) <= max;
}

/** Returns the limits that are not those of the service, as the API takes them. */
export function limitsOf(texts: LimitTexts): OwnLimitsJson {
  const set = limitNames.filter((name) => texts[name].trim() !== "");
  return Object.fromEntries(set.map((name) => [name, texts[name].trim()]));
}
