import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";

/** Returns a google.protobuf.Duration for whole milliseconds. */
export function durationFromMs(ms: number): Duration {
  const seconds = Math.trunc(ms / 1000);
  return create(DurationSchema, {
    seconds: BigInt(seconds),
    nanos: Math.round((ms - seconds * 1000) * 1_000_000),
  });
}

/** Returns a google.protobuf.Duration for whole nanoseconds, exact up to 2500 hours. */
export function durationFromNs(ns: number): Duration {
  const seconds = Math.trunc(ns / 1e9);
  return create(DurationSchema, { seconds: BigInt(seconds), nanos: ns - seconds * 1e9 });
}

/** Returns a duration in milliseconds, with fractions. The result is exact below 104 days. */
export function msOfDuration(duration: Duration): number {
  return Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
}

/**
 * Returns whole seconds, rounded down, so that the use shown equals the limit only when the limit
 * has been reached.
 */
export function wholeSecondsOfMs(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Returns a google.protobuf.Timestamp for a Date, to the millisecond. */
export function timestampFromDate(date: Date): Timestamp {
  const ms = date.getTime();
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, {
    seconds: BigInt(seconds),
    nanos: (ms - seconds * 1000) * 1_000_000,
  });
}
