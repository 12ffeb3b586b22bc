import { useEffect } from "react";
import { areSingleKeysOn, isPlain } from "../../../parts/single-keys.ts";

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
      if (event.defaultPrevented || !isPlain(event) || !areSingleKeysOn()) return;
      const { target } = event;
      if (target instanceof Element && target.closest("input, textarea, select")) return;
      const key = event.key.toLowerCase();
      if (key !== "n" && key !== "p") return;
      event.preventDefault();
      if (key === "n") next();
      else previous();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}
