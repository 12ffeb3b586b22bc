import { savedScrollPosition } from "../frame/scroll-position.ts";
import { type ListPages, newList } from "./list-pages.ts";
import type { Sort } from "./search.ts";

/** The maximum number of lists that are kept. Each has a token of 150 characters per page. */
const keptMax = 20;
const kept = new Map<number, { readonly account: string; readonly pages: ListPages }>();
let lastId = 0;

/**
 * The list of the current history entry if it has this account and filter; otherwise a new list.
 */
export function listOfEntry(account: string, filter: string, sort: Sort): ListPages {
  const found = kept.get(savedScrollPosition()?.list ?? 0);
  const isSame = found?.pages.filter === filter && found.pages.sort === sort;
  if (isSame && found.account === account) return found.pages;
  return newestList(filter, sort);
}

const renewed = new EventTarget();

/** Makes the list that is shown begin again, since the user has added or removed transcripts. */
export function newLists(): void {
  kept.clear();
  renewed.dispatchEvent(new Event("renew"));
}

/** Calls the listener when the list is to begin again. Returns the function that ends this. */
export function whenRenewed(listener: () => void): () => void {
  renewed.addEventListener("renew", listener);
  return () => renewed.removeEventListener("renew", listener);
}

/** A new list, which begins with the transcript that was changed last. */
export function newestList(filter: string, sort: Sort): ListPages {
  lastId += 1;
  return newList(lastId, filter, sort);
}

export function keepList(account: string, pages: ListPages): void {
  kept.delete(pages.id);
  kept.set(pages.id, { account, pages });
  for (const id of kept.keys()) {
    if (kept.size <= keptMax) break;
    kept.delete(id);
  }
}
