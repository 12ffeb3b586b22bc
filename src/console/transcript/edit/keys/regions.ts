const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select, summary, [tabindex="0"], [contenteditable="true"]';

/**
 * Moves the focus to the next or the previous region of the page that has something to focus: its
 * head, the text, the player, what is next to the text, and panels.
 */
export function focusRegion(by: 1 | -1): boolean {
  const found = document.querySelectorAll<HTMLElement>("[data-region]");
  const regions = [...found].filter((region) => targetIn(region) !== undefined);
  const now = regions.findIndex((region) => region.contains(document.activeElement));
  const next = now < 0 ? (by > 0 ? 0 : -1) : (now + by) % regions.length;
  const target = regions.at(next);
  if (target) targetIn(target)?.focus();
  return target !== undefined;
}

function targetIn(region: HTMLElement): HTMLElement | undefined {
  if (region.matches(focusable)) return region;
  const found = region.querySelectorAll<HTMLElement>(focusable);
  return [...found].find((element) => element.checkVisibility() && element.tabIndex >= 0);
}
