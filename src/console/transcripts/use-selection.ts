import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { type ListPages, placeOf } from "./list-pages.ts";
import type { SummaryPage, TranscriptSummary } from "./page-query.ts";

/** What a bulk action needs to know about a selected transcript. */
export type Selected = Pick<TranscriptSummary, "id" | "subject" | "languageCode">;

/** The selected transcripts of the list, in the order in which they were selected. */
export interface Selection {
  readonly selected: ReadonlyMap<string, Selected>;
  /** Selects a row or not; with `isRange`, all loaded rows between it and the last one too. */
  readonly select: (row: TranscriptSummary, index: number, isRange: boolean) => void;
  readonly replace: (rows: readonly Selected[]) => void;
}

const none: ReadonlyMap<string, Selected> = new Map();

/** Returns the selection, which ends with the search. */
export function useSelection(shown: ListPages | undefined, filter: string): Selection {
  const queries = useQueryClient();
  const [{ selected, ofFilter }, setState] = useState({ selected: none, ofFilter: filter });
  const last = useRef<{ readonly index: number; readonly isOn: boolean }>(undefined);
  if (ofFilter !== filter) setState({ selected: none, ofFilter: filter });
  const rowAt = (index: number): TranscriptSummary | undefined => {
    const place = shown && placeOf(shown, index);
    if (!shown || !place) return undefined;
    const key = ["transcripts", "list", shown.id, place.page];
    return queries.getQueryData<SummaryPage>(key)?.rows[place.row];
  };
  const select: Selection["select"] = (row, index, isRange) => {
    const before = last.current;
    const isOn = isRange && before ? before.isOn : !selected.has(row.id);
    const other = isRange && before ? before.index : index;
    const rows = [];
    for (let at = Math.min(index, other); at <= Math.max(index, other); at += 1) {
      const each = at === index ? row : rowAt(at);
      if (each) rows.push(each);
    }
    last.current = { index, isOn };
    const next = new Map(selected);
    for (const { id, subject, languageCode } of rows) {
      if (isOn) next.set(id, { id, subject, languageCode });
      else next.delete(id);
    }
    setState({ selected: next, ofFilter: filter });
  };
  const replace = useCallback(
    (rows: readonly Selected[]) => {
      setState({ selected: new Map(rows.map((row) => [row.id, row])), ofFilter: filter });
    },
    [filter],
  );
  return { selected, select, replace };
}
