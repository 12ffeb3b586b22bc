import { create } from "@bufbuild/protobuf";
import { keyLimitNames, type KeyLimits as Limits } from "../auth/limits.ts";
import { KeyLimitsSchema, type KeyLimits } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import type { Violations } from "../std/service-error.ts";

/** The most that a limit of a key may be: more says nothing. */
export const keyLimitMax: Limits = {
  requestsPerMinute: 1_000_000,
  concurrentStreams: 1_000_000,
  queuedJobs: 1_000_000,
  audioSecondsPerDay: 1_000_000_000,
};

/**
 * What a new key may use, as its column has it. `own` are the limits of the key that makes it,
 * which it cannot give more than: where nothing is asked for, the new key has the same.
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
      const problem = `is ${value}: from 0 (as much as the account) to ${keyLimitMax[name]}`;
      const ofOwn = `is ${value}: the key used for this call may itself use ${max}`;
      violations.add(`limits.${name}`, value < 0 || own[name] === 0 ? problem : ofOwn);
    }
    const limit = value === 0 ? own[name] : value;
    if (limit !== 0) limits[name] = limit;
  }
  return JSON.stringify(limits);
}

/** The limits of a key as its column has them. */
export function keyLimitsMessage(column: Readonly<Record<string, number>>): KeyLimits {
  return create(KeyLimitsSchema, column);
}
