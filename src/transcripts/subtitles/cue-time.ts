/**
 * Formats the time of a cue as hours, minutes, seconds and milliseconds: 00:01:02,003 in SRT.
 * WebVTT uses a period instead of the comma.
 */
export function cueTime(ms: number, mark: "," | "."): string {
  const digits = (value: number, count: number) => `${Math.floor(value)}`.padStart(count, "0");
  const minutes = (ms / 60_000) % 60;
  const seconds = (ms / 1000) % 60;
  return `${digits(ms / 3_600_000, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}${mark}${digits(ms % 1000, 3)}`;
}
