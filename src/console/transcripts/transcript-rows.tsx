import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ProblemNote } from "../parts/problem-note.tsx";
import { searchProblems, transcriptsText } from "../text/transcripts.ts";
import { useText } from "../text/language.tsx";
import { pageQuery, type TranscriptRows as Rows } from "./page-query.ts";
import { placeOf, type Reading, rowCount, tokenOf } from "./reading.ts";
import { TranscriptRow } from "./transcript-row.tsx";
import { useFocusedRow } from "./use-focused-row.ts";
import { useKeptPlace } from "./use-kept-place.ts";
import { useRowWindow } from "./use-row-window.ts";
import "./transcript-rows.css";

/** So many rows before the end of what is known the next page is asked for. */
const rowsAhead = 60;

/**
 * A list without end, of which only the rows in sight, and the one with the keyboard, are in the
 * page. Those of a page that was forgotten are asked for again when they come into sight.
 */
export function TranscriptRows({
  reading,
  isWaiting,
  onPage,
  onKeyword,
}: {
  readonly reading: Reading;
  /** The rows are those of the search before. */
  readonly isWaiting: boolean;
  readonly onPage: (reading: number, page: number, came: Rows) => void;
  readonly onKeyword: (keyword: string) => void;
}) {
  const t = useText();
  const [now] = useState(() => new Date());
  const known = rowCount(reading);
  const focus = useFocusedRow(known);
  const { list, first, last, items, top, height } = useRowWindow(known, focus.row);
  useKeptPlace(reading.id, focus.row, list);
  const pages = pagesOf(reading, first, last);
  const answers = useQueries({
    queries: pages.map((page) => pageQuery(reading, page, tokenOf(reading, page) ?? "")),
  });
  const rowsOf = new Map(pages.map((page, at) => [page, answers[at]?.data]));
  useEffect(() => {
    for (const [page, came] of rowsOf) if (came) onPage(reading.id, page, came);
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
          const place = placeOf(reading, index);
          return (
            <TranscriptRow
              key={index}
              row={place && rowsOf.get(place.page)?.rows[place.row]}
              index={index}
              // Nobody knows how many there are before the last page has come.
              setSize={reading.next === undefined ? known : -1}
              top={start - top}
              now={now}
              onKeyword={onKeyword}
            />
          );
        })}
      </ul>
      {failed?.error ? (
        <div className="transcript-rows-problem">
          <ProblemNote
            error={failed.error}
            own={searchProblems}
            onRetry={() => void failed.refetch()}
          />
        </div>
      ) : (
        <p className="transcript-rows-end quiet">
          {reading.next === undefined
            ? known > endWorthTelling && t(transcriptsText.count)(known)
            : t(transcriptsText.loadingMore)}
        </p>
      )}
    </>
  );
}

/** Of a shorter list the end is in sight. */
const endWorthTelling = 20;

/** The pages in sight, and the next one when its rows are near. */
function pagesOf(reading: Reading, first: number, last: number): number[] {
  const known = rowCount(reading);
  const from = placeOf(reading, first)?.page ?? 0;
  const to = placeOf(reading, Math.min(last, known - 1))?.page ?? 0;
  const pages = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const isNext = reading.next !== undefined && last + rowsAhead >= known;
  return isNext && !pages.includes(reading.pages.length) ? [...pages, reading.pages.length] : pages;
}
