import { readKept } from "../api/kept.ts";

/** The name under which the browser stores that shortcuts of a single key are off. */
export const singleKeysKeptAs = "hlust.shortcuts";

/**
 * Returns whether shortcuts of a single key are on, as this browser knows it. Speech input and
 * screen readers may need the keys, so users can turn them off (WCAG 2.1.4).
 */
export function areSingleKeysOn(): boolean {
  return readKept(singleKeysKeptAs) !== "off";
}

/**
 * Whether the focused element uses the key itself: an input, a text that is edited, a list, a
 * dialog, or an element that the space bar activates.
 */
export function isUsedByTarget({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  const users = "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]";
  if (target.closest(`${users}, [role=listbox], [role=menu]`)) return true;
  return key === " " && target.closest("button, a, summary, [role=button]") !== null;
}

/** Whether a key is pressed without modifiers. AltGr is for typing letters; Shift may be needed. */
export function isPlain(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, isComposing } = event;
  return !(ctrlKey || metaKey || altKey || isComposing || event.getModifierState("AltGraph"));
}
