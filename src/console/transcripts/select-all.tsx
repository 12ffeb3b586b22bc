import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { selectionText } from "../text/selection.ts";
import { readAll, selectedMax } from "./bulk.ts";
import type { Selection } from "./use-selection.ts";

/** The button that selects all transcripts of the search, its limit, and what it has not done. */
export function SelectAll({
  selection,
  filter,
  isDisabled,
}: {
  readonly selection: Selection;
  readonly filter: string;
  readonly isDisabled: boolean;
}) {
  const t = useText();
  const hintId = useId();
  const { read, isReading, isLimited, error } = useSelectAll(selection, filter);
  return (
    <>
      <Button
        look="quiet"
        aria-describedby={hintId}
        isDisabled={isDisabled}
        isPending={isReading}
        onPress={read}
      >
        {t(isReading ? selectionText.selecting : selectionText.selectAll)}
      </Button>
      <p className="hint selection-hint" id={hintId}>
        {t(selectionText.allHint)(selectedMax)}
      </p>
      {isLimited && selection.selected.size === selectedMax && (
        <p className="note">{t(selectionText.tooMany)(selectedMax)}</p>
      )}
      {error && <ProblemNote error={error} onRetry={read} />}
    </>
  );
}

/** Selects all transcripts of the search, up to selectedMax. */
function useSelectAll({ replace }: Selection, filter: string) {
  const t = useText();
  const announce = useAnnounce();
  const reading = useRef(new AbortController());
  // The transcripts of an earlier search are not selected.
  useEffect(() => {
    const own = (reading.current = new AbortController());
    return () => own.abort();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- each search has its own
  }, [filter]);
  const { mutate, reset, ...state } = useMutation({
    mutationFn: async () => {
      const { signal } = reading.current;
      const all = await readAll(filter, signal);
      signal.throwIfAborted();
      replace(all.rows);
      const selected = t(selectionText.selected)(all.rows.length);
      announce(all.isMore ? `${selected}. ${t(selectionText.tooMany)(selectedMax)}` : selected);
      return all;
    },
  });
  useEffect(reset, [reset, filter]);
  return {
    read: () => mutate(),
    isReading: state.isPending,
    isLimited: state.data?.isMore === true,
    error: state.error,
  };
}
