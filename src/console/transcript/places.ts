import { keep, readKept } from "../api/kept.ts";

/**
 * Where the user stopped listening in the latest transcripts: ids with seconds, the latest first.
 */
type Places = readonly (readonly [id: string, seconds: number])[];

const keptAs = "hlust.places";
const placesMax = 50;
/** Places before this are not kept. */
const secondsMin = 3;

/**
 * Where the user stopped in a transcript; undefined if the user has not started it or has reached
 * its end.
 */
export function placeIn(id: string): number | undefined {
  return placesOf(readKept(keptAs)).find(([kept]) => kept === id)?.[1];
}

/** Stores where the user is, except at the start and at the end. */
export function savePlace(id: string, seconds: number, isAtEnd: boolean): void {
  const places = withPlace(
    placesOf(readKept(keptAs)),
    id,
    isAtEnd || seconds < secondsMin ? undefined : seconds,
  );
  keep(keptAs, places.length === 0 ? undefined : JSON.stringify(places));
}

/** The stored places that can be read: anyone who uses the browser can change its storage. */
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
 * The places, with the place of one transcript first, in tenths of seconds; undefined removes it.
 */
export function withPlace(places: Places, id: string, seconds: number | undefined): Places {
  const others = places.filter(([kept]) => kept !== id);
  if (seconds === undefined) return others;
  const place = [id, Math.round(seconds * 10) / 10] as const;
  return [place, ...others].slice(0, placesMax);
}
