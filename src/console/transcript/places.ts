import { keep, readKept } from "../api/kept.ts";

/**
 * Where the user stopped listening in the latest transcripts: ids with seconds, the latest first.
 */
type Places = readonly (readonly [id: string, seconds: number])[];

const keptAs = "hlust.places";
const placesMax = 50;
/** Places before this time are not saved. */
const secondsMin = 3;

/**
 * The place where the user stopped in a transcript; undefined if the user has not started it or has
 * reached its end.
 */
export function placeIn(id: string): number | undefined {
  return placesOf(readKept(keptAs)).find(([kept]) => kept === id)?.[1];
}

/** Stores the user's current place, unless it is at the start or the end. */
export function savePlace(id: string, seconds: number, isAtEnd: boolean): void {
  const places = withPlace(
    placesOf(readKept(keptAs)),
    id,
    isAtEnd || seconds < secondsMin ? undefined : seconds,
  );
  keep(keptAs, places.length === 0 ? undefined : JSON.stringify(places));
}

/**
 * Returns the stored places that are valid; anyone who uses the browser can change its storage.
 */
export function placesOf(kept: string | undefined): Places {
  try {
    const value: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(value) ? value.filter(isPlace).slice(0, placesMax) : [];
  } catch {
    return [];
  }
}

function isPlace(value: unknown): value is readonly [string, number] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    typeof value[0] === "string" &&
    Number.isFinite(value[1]) &&
    value[1] >= 0
  );
}

/**
 * Returns the places with one transcript's place first, in tenths of seconds. Without a place, the
 * transcript is removed.
 */
export function withPlace(places: Places, id: string, seconds: number | undefined): Places {
  const others = places.filter(([kept]) => kept !== id);
  if (seconds === undefined) return others;
  const place = [id, Math.round(seconds * 10) / 10] as const;
  return [place, ...others].slice(0, placesMax);
}
