import { accountLimitNames, keyLimitNames } from "../../auth/limits.ts";
import { UsageError } from "../command.ts";

const meanings = {
  requestsPerMinute: "calls in any 60 seconds",
  concurrentStreams: "concurrent live streams",
  queuedJobs: "unfinished jobs",
  audioSecondsPerDay: "seconds of audio recognized in a day (UTC)",
  storedBytes: "stored bytes of media and drafts",
} as const;

type LimitName = (typeof accountLimitNames)[number];

export const accountLimitOptions = optionsOf(accountLimitNames);
export const keyLimitOptions = optionsOf(keyLimitNames);

/**
 * Returns the given limits by name, with null for `default`. Values that are too large are refused
 * later, when the limits are set.
 */
export function givenLimits(read: {
  text(option: string): string | undefined;
}): Partial<Record<LimitName, number | null>> {
  const given: Partial<Record<LimitName, number | null>> = {};
  for (const name of accountLimitNames) {
    const option = optionOf(name);
    const text = read.text(option);
    if (text === undefined) continue;
    if (text !== "default" && !/^\d{1,16}$/.test(text)) {
      throw new UsageError(
        `--${option} must be a whole number or default, not ${JSON.stringify(text)}`,
      );
    }
    given[name] = text === "default" ? null : Number(text);
  }
  return given;
}

/** Returns the option for a limit, such as requests-per-minute for requestsPerMinute. */
function optionOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function optionsOf(names: readonly LimitName[]) {
  return Object.fromEntries(
    names.map((name) => [optionOf(name), { hint: "N", meaning: meanings[name] }]),
  );
}
