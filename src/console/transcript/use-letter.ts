import { useEffect } from "react";
import { areSingleKeysOn, isPlain, isUsedByTarget } from "../parts/single-keys.ts";

/**
 * Runs something when a letter is pressed without modifiers, if `isOn`: not while a field has the
 * focus, and not if the user has turned off shortcuts of a single key.
 */
export function useLetter(letter: string, isOn: boolean, run: () => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      const { key, defaultPrevented } = event;
      if (!isPlain(event) || defaultPrevented || key.toLowerCase() !== letter) return;
      if (isUsedByTarget(event) || !areSingleKeysOn()) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [letter, isOn, run]);
}
