import { create } from "@bufbuild/protobuf";
import { keyLimitNames, type KeyLimits as Limits } from "../auth/limits.ts";
import { KeyLimitsSchema, type KeyLimits } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import type { Violations } from "../std/service-error.ts";

/** The maximum of each limit of a key. */
export const keyLimitMax: Limits = {
  requestsPerMinute: 1_000_000,
  concurrentStreams: 1_000_000,
  queuedJobs: 1_000_000,
  audioSecondsPerDay: 1_000_000_000,
};

/**
 * Returns the limits of a new key, as its column stores them. `own` contains the limits of the key
 * that creates the new key. The new key cannot exceed these limits, and has them by default.
 */
export function checkKeyLimits(
  asked: KeyLimits | undefined,
  own: Limits,
  violations: Violations,
): string {
  const limits: Record<string, number> = {};
  for (const name of keyLimitNames) {
    const max = own[name] === 0 ? keyLimitMax[name] : own[name];
    const value = asked?.[name] ?? 0;
    if (value < 0 || value > max) {
      const problem = `must be 0 (as much as the account) to ${keyLimitMax[name]}, not ${value}`;
      const ofOwn = `must be at most ${max}, the limit of the key used for this call, not ${value}`;
      violations.add(`limits.${name}`, value < 0 || own[name] === 0 ? problem : ofOwn);
    }
    const limit = value === 0 ? own[name] : value;
    if (limit !== 0) limits[name] = limit;
  }
  return JSON.stringify(limits);
}

/** Converts the limits of a key from its column to a message. */
export function keyLimitsMessage(column: Readonly<Record<string, number>>): KeyLimits {
  return create(KeyLimitsSchema, column);
}
