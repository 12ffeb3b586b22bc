import { type FocusEvent, type KeyboardEvent, useState } from "react";
import { focusInSight } from "../parts/focus-in-sight.ts";

/** The row that the keyboard stands in, and the arrows that go from one row's title to the next. */
export function useFocusedRow(count: number): {
  readonly row: number | undefined;
  readonly handlers: {
    readonly onFocus: (event: FocusEvent<HTMLElement>) => void;
    readonly onBlur: (event: FocusEvent<HTMLElement>) => void;
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  };
} {
  const [row, setRow] = useState<number>();
  return {
    row: row !== undefined && row < count ? row : undefined,
    handlers: {
      onFocus: ({ target }) => setRow(rowOf(target)),
      onBlur: ({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setRow(undefined);
      },
      onKeyDown: (event) => {
        const { key, target, currentTarget, altKey, ctrlKey, metaKey, shiftKey } = event;
        const step = { ArrowDown: 1, ArrowUp: -1 }[key];
        if (step === undefined || altKey || ctrlKey || metaKey || shiftKey) return;
        const from = rowOf(target);
        const next = from === undefined ? undefined : titleOf(currentTarget, from + step);
        if (!next) return;
        event.preventDefault();
        focusInSight(next);
      },
    },
  };
}

function rowOf(target: EventTarget): number | undefined {
  if (!(target instanceof Element)) return undefined;
  const { row } = target.closest<HTMLElement>("[data-row]")?.dataset ?? {};
  return row === undefined ? undefined : Number(row);
}

/** The title of a row that is in the page. */
export function titleOf(list: Element, row: number): HTMLElement | null {
  return list.querySelector<HTMLElement>(`[data-row="${row}"] a`);
}
