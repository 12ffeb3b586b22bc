import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { useSession } from "../api/use-session.ts";
import { keepReading, newestReading, readingHere } from "./kept-readings.ts";
import { pageQuery, type TranscriptRows } from "./page-query.ts";
import { type Reading, withPage } from "./reading.ts";

/** A list as it is being read. */
export interface ShownReading {
  /** What is to be shown: the list before until the first page of another one has come. */
  readonly shown: Reading | undefined;
  readonly isWaiting: boolean;
  /** Why the first page did not come. */
  readonly error: Error | null;
  readonly retry: () => void;
  /** Tells of a page that has come. */
  readonly onPage: (reading: number, page: number, came: TranscriptRows) => void;
}

/**
 * Reads the account's transcripts that pass a filter; where the entry of the history has kept a
 * list, that one.
 */
export function useReading(filter: string): ShownReading {
  const account = useSession().account.name;
  const [wanted, setWanted] = useState(() => readingHere(account, filter));
  const [shown, setShown] = useState<Reading>();
  if (wanted.filter !== filter) setWanted(readingHere(account, filter));
  useEffect(() => keepReading(account, wanted), [account, wanted]);
  useEffect(() => {
    // Whoever comes back to the window at the head of the list sees what has come since; nothing
    // moves under a reader further down.
    const renew = () => {
      const isReading = window.scrollY > 0 || document.activeElement?.closest("li");
      if (document.visibilityState === "visible" && !isReading) {
        setWanted(({ filter: same }) => newestReading(same));
      }
    };
    document.addEventListener("visibilitychange", renew);
    return () => document.removeEventListener("visibilitychange", renew);
  }, []);
  const first = useQuery(pageQuery(wanted, 0, ""));
  const isKnown = first.isSuccess || wanted.pages.length > 0;
  if (isKnown && shown !== wanted) setShown(wanted);
  const onPage = useCallback((reading: number, page: number, { rows, next }: TranscriptRows) => {
    setWanted((before) =>
      before.id === reading ? withPage(before, page, { rows: rows.length, next }) : before,
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
