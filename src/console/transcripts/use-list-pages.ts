import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { useSession } from "../api/use-session.ts";
import { keepList, listOfEntry, newestList, whenRenewed } from "./kept-lists.ts";
import { type ListPages, withPage } from "./list-pages.ts";
import type { Sort } from "./search.ts";
import { pageQuery, type SummaryPage } from "./page-query.ts";

/** The list to show, and its state. */
export interface ShownList {
  /**
   * The list to show. After the filter changes, this is the previous list until the first page of
   * the new one has loaded.
   */
  readonly shown: ListPages | undefined;
  readonly isWaiting: boolean;
  /** The reason why the first page could not be read. */
  readonly error: Error | null;
  readonly retry: () => void;
  /** Called with each page that was read. */
  readonly onPage: (listId: number, page: number, read: SummaryPage) => void;
}

/**
 * Returns the list of the account's transcripts that match a filter: the kept list of the history
 * entry if there is one, otherwise a new list.
 */
export function useListPages(filter: string, sort: Sort): ShownList {
  const account = useSession().account.name;
  const [wanted, setWanted] = useState(() => listOfEntry(account, filter, sort));
  const [shown, setShown] = useState<ListPages>();
  if (wanted.filter !== filter || wanted.sort !== sort) {
    setWanted(listOfEntry(account, filter, sort));
  }
  useEffect(() => keepList(account, wanted), [account, wanted]);
  useEffect(() => {
    // A user who returns to the window at the top of the list sees new and changed transcripts.
    // Further down, no row moves.
    const renew = () => {
      const isAtTop = window.scrollY <= 0 && !document.activeElement?.closest("li");
      if (document.visibilityState === "visible" && isAtTop) {
        setWanted((before) => newestList(before.filter, before.sort));
      }
    };
    document.addEventListener("visibilitychange", renew);
    const ending = whenRenewed(() => setWanted((before) => newestList(before.filter, before.sort)));
    return () => {
      document.removeEventListener("visibilitychange", renew);
      ending();
    };
  }, []);
  const first = useQuery(pageQuery(wanted, 0, ""));
  const isKnown = first.isSuccess || wanted.pages.length > 0;
  if (isKnown && shown !== wanted) setShown(wanted);
  const onPage = useCallback((listId: number, page: number, { rows, next }: SummaryPage) => {
    setWanted((before) =>
      before.id === listId ? withPage(before, page, { rows: rows.length, next }) : before,
    );
  }, []);
  return {
    shown,
    isWaiting: shown?.id !== wanted.id,
    error: isKnown ? null : first.error,
    retry: () => void first.refetch(),
    onPage,
  };
}
