import { type FocusEvent, type KeyboardEvent, useState } from "react";
import { focusInView } from "../parts/focus-in-view.ts";

/** The row with the focus, and handlers that make arrow keys move it between the rows' titles. */
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
        focusInView(next);
      },
    },
  };
}

function rowOf(target: EventTarget): number | undefined {
  if (!(target instanceof Element)) return undefined;
  const { row } = target.closest<HTMLElement>("[data-row]")?.dataset ?? {};
  return row === undefined ? undefined : Number(row);
}

/** The title of a row, if it is rendered. */
export function titleOf(list: Element, row: number): HTMLElement | null {
  return list.querySelector<HTMLElement>(`[data-row="${row}"] a`);
}
