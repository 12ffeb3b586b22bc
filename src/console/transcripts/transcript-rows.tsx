import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ProblemNote } from "../parts/problem-note.tsx";
import { transcriptsText } from "../text/transcripts.ts";
import { useText } from "../text/language.tsx";
import { firstWordsQuery, pageQuery, type SummaryPage } from "./page-query.ts";
import type { Selection } from "./use-selection.ts";
import { placeOf, type ListPages, rowCount, tokenOf } from "./list-pages.ts";
import { TranscriptRow } from "./transcript-row.tsx";
import { useFocusedRow } from "./use-focused-row.ts";
import { useScrollPosition } from "./use-scroll-position.ts";
import { useRowWindow } from "./use-row-window.ts";
import "./transcript-rows.css";

/**
 * The next page is read when the window is within this number of rows of the end of the known rows.
 */
const rowsAhead = 60;

/**
 * An infinite list, of which only visible rows and the focused one are rendered. Pages with dropped
 * rows are read again when they become visible.
 */
export function TranscriptRows({
  listPages,
  isWaiting,
  onPage,
  keywords,
  onKeyword,
  selection,
}: {
  readonly listPages: ListPages;
  /** Whether the rows still belong to the previous search. */
  readonly isWaiting: boolean;
  readonly onPage: (listId: number, page: number, read: SummaryPage) => void;
  /** The keywords of the search, which rows show first. */
  readonly keywords: readonly string[];
  readonly onKeyword: (keyword: string) => void;
  readonly selection: Selection;
}) {
  const t = useText();
  const [now] = useState(() => new Date());
  const known = rowCount(listPages);
  const focus = useFocusedRow(known);
  const { list, first, last, items, top, height } = useRowWindow(known, focus.row);
  useScrollPosition(listPages.id, focus.row, list);
  const pages = pagesOf(listPages, first, last);
  const answers = useQueries({
    queries: pages.map((page) => pageQuery(listPages, page, tokenOf(listPages, page) ?? "")),
  });
  const words = useQueries({
    queries: pages.map((page, at) => firstWordsQuery(listPages.id, page, answers[at]?.data?.rows)),
  });
  const wordsOf = new Map(pages.map((page, at) => [page, words[at]?.data]));
  const rowsOf = new Map(pages.map((page, at) => [page, answers[at]?.data]));
  useEffect(() => {
    for (const [page, read] of rowsOf) if (read) onPage(listPages.id, page, read);
  });
  const failed = answers.find(({ error, data }) => error && !data);
  return (
    <>
      <ul
        ref={list}
        className="transcript-rows"
        aria-label={t(transcriptsText.list)}
        aria-busy={isWaiting}
        style={{ height }}
        {...focus.handlers}
      >
        {items.map(({ index, start }) => {
          const place = placeOf(listPages, index);
          const row = place && rowsOf.get(place.page)?.rows[place.row];
          return (
            <TranscriptRow
              key={index}
              row={row}
              firstWords={(place && row && wordsOf.get(place.page)?.get(row.id)) ?? ""}
              isSelected={row !== undefined && selection.selected.has(row.id)}
              onSelect={selection.select}
              index={index}
              // The number of rows is unknown until the last page is read.
              setSize={listPages.next === undefined ? known : -1}
              top={start - top}
              now={now}
              searched={keywords}
              onKeyword={onKeyword}
            />
          );
        })}
      </ul>
      {failed?.error ? (
        <div className="transcript-rows-problem">
          <ProblemNote error={failed.error} onRetry={() => void failed.refetch()} />
        </div>
      ) : (
        <p className="transcript-rows-end quiet">
          {listPages.next === undefined
            ? known > countedRowsMin && t(transcriptsText.count)(known)
            : t(transcriptsText.loadingMore)}
        </p>
      )}
    </>
  );
}

/**
 * The count is shown only for lists with more rows than this, because the end of a shorter list is
 * in view.
 */
const countedRowsMin = 20;

/** Returns the visible pages, and the next page if its rows are near. */
function pagesOf(listPages: ListPages, first: number, last: number): number[] {
  const known = rowCount(listPages);
  const from = placeOf(listPages, first)?.page ?? 0;
  const to = placeOf(listPages, Math.min(last, known - 1))?.page ?? 0;
  const pages = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const isNext = listPages.next !== undefined && last + rowsAhead >= known;
  return isNext && !pages.includes(listPages.pages.length)
    ? [...pages, listPages.pages.length]
    : pages;
}
