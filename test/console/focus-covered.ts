/**
 * The code of a promise in a page: null once no control has the focus, "" if the control with the
 * focus is shown and has an outline, or what is wrong with it.
 */
export const focusCovered = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return resolve(null);
  const shown = one.matches("input[type=checkbox], input[type=radio], input[type=file]")
    ? (one.closest("label") ?? one) : one;
  const { left, top, right, bottom } = shown.getBoundingClientRect();
  const [x0, x1] = [Math.max(left, 0), Math.min(right, innerWidth)];
  const [y0, y1] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
  const points = [0.1, 0.5, 0.9].flatMap((x) =>
    [0.1, 0.5, 0.9].map((y) => [x0 + x * (x1 - x0), y0 + y * (y1 - y0)]));
  const isSeen = x1 - x0 > 1 && y1 - y0 > 1 && points.some(([x, y]) => {
    const there = document.elementFromPoint(x, y);
    return there && (shown.contains(there) || there.contains(shown));
  });
  if (!isSeen) {
    const place = [left, top, right, bottom].map(Math.round);
    return resolve("covered: " + shown.outerHTML.slice(0, 160) + " " + place);
  }
  const hasOutline = [[one], [shown], [one, "::after"]].some(([element, part]) =>
    getComputedStyle(element, part).outlineStyle !== "none");
  resolve(hasOutline ? "" : "without an outline: " + shown.outerHTML.slice(0, 160));
})))`;
