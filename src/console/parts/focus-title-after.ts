/**
 * A `ref` of an element whose buttons may remove it: the focus, which would be lost with the
 * element, moves to the title of the page.
 */
export function focusTitleAfter(element: HTMLElement | null): () => void {
  return () => {
    if (!element?.contains(document.activeElement)) return;
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  };
}
