import type { Language } from "./language.tsx";

/**
 * Formats a number, such as "1.284,5" in Icelandic and "1,284.5" in English. Browsers lack the
 * Icelandic format.
 */
export function numberText(language: Language, value: number, decimals = 0): string {
  const [point, comma] = language === "is" ? [",", "."] : [".", ","];
  const [whole = "", part] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, comma);
  const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? "−" : "";
  return `${sign}${grouped}${part === undefined ? "" : point + part}`;
}

/** Formats seconds, rounded down, as a clock time: "0:16", "48:13", "1:12:04". */
export function clockText(seconds: number): string {
  const total = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  const rest = String(total % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Formats seconds as clockText() does, with tenths: "0:16,4". */
export function clockTenths(language: Language, seconds: number): string {
  const tenths = Math.floor(Math.max(0, seconds) * 10 + 0.001);
  return `${clockText(tenths / 10)}${language === "is" ? "," : "."}${tenths % 10}`;
}

/** Formats seconds as clockText() does, with thousandths: "0:16,427". */
export function clockThousandths(language: Language, seconds: number): string {
  const thousandths = Math.round(Math.max(0, seconds) * 1000);
  const rest = String(thousandths % 1000).padStart(3, "0");
  return `${clockText(thousandths / 1000)}${language === "is" ? "," : "."}${rest}`;
}

/** Formats a duration: "41,2 klst.", "12 mín.", "8 sek.". */
export function spanText(language: Language, seconds: number): string {
  const [hour, minute, second] =
    language === "is" ? (["klst.", "mín.", "sek."] as const) : (["h", "min", "s"] as const);
  if (seconds >= 3600) return `${numberText(language, seconds / 3600, 1)} ${hour}`;
  if (seconds >= 60) return `${numberText(language, Math.floor(seconds / 60))} ${minute}`;
  return `${numberText(language, Math.floor(seconds))} ${second}`;
}

/**
 * Formats the length of a recording: "1 klst. 12 mín.", "10 mín. 49 sek.", "8 sek.". Next to a time
 * of day, a clock time would be read as another one.
 */
export function lengthText(language: Language, seconds: number): string {
  const total = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [
    Math.floor(total / 3600),
    Math.floor(total / 60) % 60,
    total % 60,
  ];
  const [hour, minute, second] =
    language === "is" ? (["klst.", "mín.", "sek."] as const) : (["h", "min", "s"] as const);
  const parts =
    hours > 0
      ? [part(hours, hour), part(minutes, minute)]
      : [part(minutes, minute), part(rest, second)];
  return parts.filter((text) => text !== "").join(" ") || `0 ${second}`;
}

function part(count: number, unit: string): string {
  return count === 0 ? "" : `${count} ${unit}`;
}

/** Formats a size, such as "3,4 MB", in decimal units, as browsers show downloads. */
export function bytesText(language: Language, bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let at = 0;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${numberText(language, value, at > 0 && value < 99.5 ? 1 : 0)} ${units[at]}`;
}

/** Returns the seconds of a Duration in JSON, such as "3.500s"; 0 if it is absent. */
export function secondsOf(duration: string | undefined): number {
  const seconds = Number.parseFloat(duration ?? "0");
  return Number.isFinite(seconds) ? seconds : 0;
}
