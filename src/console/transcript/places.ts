import { keep, readKept } from "../api/kept.ts";

/**
 * Where the user stopped listening, of the last transcripts that they listened to: ids with
 * seconds, the latest first.
 */
type Places = readonly (readonly [id: string, seconds: number])[];

const keptAs = "hlust.places";
const placesMax = 50;
/** Nearer to the start than this nothing is kept. */
const secondsMin = 3;

/**
 * Where the user stopped in a transcript; undefined where they did not begin, or came to its end.
 */
export function placeIn(id: string): number | undefined {
  return placesOf(readKept(keptAs)).find(([kept]) => kept === id)?.[1];
}

/** Keeps where the user is; at the start, or at the end, nothing. */
export function keepPlace(id: string, seconds: number, isAtEnd: boolean): void {
  const places = withPlace(
    placesOf(readKept(keptAs)),
    id,
    isAtEnd || seconds < secondsMin ? undefined : seconds,
  );
  keep(keptAs, places.length === 0 ? undefined : JSON.stringify(places));
}

/** What was kept, as far as it can be read: whoever has the browser may have changed it. */
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

/** The places with that of one transcript first, in tenths of seconds; undefined takes it out. */
export function withPlace(places: Places, id: string, seconds: number | undefined): Places {
  const others = places.filter(([kept]) => kept !== id);
  if (seconds === undefined) return others;
  const place = [id, Math.round(seconds * 10) / 10] as const;
  return [place, ...others].slice(0, placesMax);
}
