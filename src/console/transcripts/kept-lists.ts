import { savedScrollPosition } from "../frame/scroll-position.ts";
import { type ListPages, newList } from "./list-pages.ts";

/** The maximum number of lists that are kept. Each has a token of 150 characters per page. */
const keptMax = 20;
const kept = new Map<number, { readonly account: string; readonly pages: ListPages }>();
let lastId = 0;

/**
 * The list of the current history entry if it has this account and filter; otherwise a new list.
 */
export function listOfEntry(account: string, filter: string): ListPages {
  const found = kept.get(savedScrollPosition()?.list ?? 0);
  if (found?.account === account && found.pages.filter === filter) return found.pages;
  return newestList(filter);
}

/** A new list, which begins with the transcript that was changed last. */
export function newestList(filter: string): ListPages {
  lastId += 1;
  return newList(lastId, filter);
}

export function keepList(account: string, pages: ListPages): void {
  kept.delete(pages.id);
  kept.set(pages.id, { account, pages });
  for (const id of kept.keys()) {
    if (kept.size <= keptMax) break;
    kept.delete(id);
  }
}
