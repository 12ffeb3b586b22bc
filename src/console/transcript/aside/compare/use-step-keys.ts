import { useEffect } from "react";

/**
 * P and N go to the previous and next change, wherever the keyboard stands; not while a list is
 * chosen from, which has letters of its own.
 */
export function useStepKeys({
  previous,
  next,
}: {
  readonly previous: () => void;
  readonly next: () => void;
}): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isChosen = event.target instanceof HTMLSelectElement;
      if (isChosen || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === "n") next();
      if (key === "p") previous();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
