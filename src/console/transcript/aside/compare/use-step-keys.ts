import { useEffect } from "react";

/**
 * Lets P and N move to the previous and the next change, wherever the focus is, except in a list of
 * choices, which uses letters itself.
 */
export function useStepKeys({
  previous,
  next,
}: {
  readonly previous: () => void;
  readonly next: () => void;
}): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isInList = event.target instanceof HTMLSelectElement;
      if (isInList || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === "n") next();
      if (key === "p") previous();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}
