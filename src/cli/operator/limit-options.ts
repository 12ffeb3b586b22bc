import { accountLimitNames, keyLimitNames } from "../../auth/limits.ts";
import { UsageError } from "../command.ts";

const meanings = {
  requestsPerMinute: "calls in any 60 seconds",
  concurrentStreams: "live streams that are open at once",
  queuedJobs: "jobs that wait or run",
  audioSecondsPerDay: "seconds of audio recognized in a day (UTC)",
  storedBytes: "bytes of media that are kept",
} as const;

type LimitName = (typeof accountLimitNames)[number];

export const accountLimitOptions = optionsOf(accountLimitNames);
export const keyLimitOptions = optionsOf(keyLimitNames);

/**
 * The limits that were given, by their names; null where `default` was. What is too much is told by
 * whoever sets them.
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
      const needed = "a whole number is needed, or default";
      throw new UsageError(`--${option} is ${JSON.stringify(text)}: ${needed}`);
    }
    given[name] = text === "default" ? null : Number(text);
  }
  return given;
}

/** requestsPerMinute: requests-per-minute. */
function optionOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function optionsOf(names: readonly LimitName[]) {
  return Object.fromEntries(
    names.map((name) => [optionOf(name), { hint: "N", meaning: meanings[name] }]),
  );
}
