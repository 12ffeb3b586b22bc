import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";

/** A google.protobuf.Duration of whole milliseconds. */
export function durationFromMs(ms: number): Duration {
  const seconds = Math.trunc(ms / 1000);
  return create(DurationSchema, {
    seconds: BigInt(seconds),
    nanos: Math.round((ms - seconds * 1000) * 1_000_000),
  });
}

/** A duration in milliseconds, with fractions. Exact below 104 days. */
export function msOfDuration(duration: Duration): number {
  return Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
}

/** Whole seconds, rounded down, so that use is shown as the limit only when it has reached it. */
export function wholeSecondsOfMs(ms: number): number {
  return Math.floor(ms / 1000);
}

/** A google.protobuf.Timestamp of a Date, to the millisecond. */
export function timestampFromDate(date: Date): Timestamp {
  const ms = date.getTime();
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, {
    seconds: BigInt(seconds),
    nanos: (ms - seconds * 1000) * 1_000_000,
  });
}
