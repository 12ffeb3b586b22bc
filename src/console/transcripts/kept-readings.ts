import { placeHere } from "../frame/page-place.ts";
import { newReading, type Reading } from "./reading.ts";

/** So many lists are known at a time: each has a token of 150 characters a page. */
const keptMax = 20;
const kept = new Map<number, { readonly account: string; readonly reading: Reading }>();
let lastId = 0;

/**
 * The reading that the entry of the history stands in, if it is of this account and filter; else a
 * new one.
 */
export function readingHere(account: string, filter: string): Reading {
  const found = kept.get(placeHere()?.list ?? 0);
  if (found?.account === account && found.reading.filter === filter) return found.reading;
  return newestReading(filter);
}

/** A new reading, from the newest transcript on. */
export function newestReading(filter: string): Reading {
  lastId += 1;
  return newReading(lastId, filter);
}

export function keepReading(account: string, reading: Reading): void {
  kept.delete(reading.id);
  kept.set(reading.id, { account, reading });
  for (const id of kept.keys()) {
    if (kept.size <= keptMax) break;
    kept.delete(id);
  }
}
