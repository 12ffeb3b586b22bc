import type { Page } from "playwright-core";

/**
 * Goes through the controls of a page with the Tab key at 400 % in forced colors, and returns what
 * is wrong with the focus: controls that are covered by something else or outside of the window
 * while they have it, that have no mark, or that are not `within` a selector. Ends before
 * `visitedMax` controls if no control has the focus any more, or the first one has it again.
 */
export async function focusProblems(
  page: Page,
  { within, visitedMax }: { readonly within: string; readonly visitedMax: number },
): Promise<string[]> {
  // A window of 1280 by 1024 px at 400 %.
  await page.setViewportSize({ width: 320, height: 256 });
  await page.emulateMedia({ forcedColors: "active" });
  await page.evaluate("globalThis.focused = []");
  const found = new Set<string>();
  for (let at = 0; at < visitedMax; at += 1) {
    await page.keyboard.press("Tab");
    const problem = await page.evaluate<string | null>(focusProblem(within));
    if (problem === null) break;
    if (problem !== "") found.add(problem);
  }
  await page.emulateMedia({ forcedColors: "none" });
  return [...found];
}

/**
 * Returns the code of a promise in a page: null at the end, "" if the control with the focus is
 * shown with a mark, or its problem. The page's `focused` is a list of those that had it before.
 */
export const focusProblem = (within: string) => `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const one = document.activeElement;
    if (!one || one === document.body) return resolve(null);
    // A player has several controls, which are one element here.
    if (one === focused[0] && one !== focused.at(-1)) return resolve(null);
    focused.push(one);
    const name = one.outerHTML.slice(0, 140);
    if (!one.closest("${within}")) return resolve("not in ${within}: " + name);
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
    const place = [left, top, right, bottom].map(Math.round).join(", ");
    if (!isSeen) return resolve("not shown with the focus, at " + place + ": " + name);
    const marks = [[one, null], [shown, null], [one, "::after"]].map(([element, part]) =>
      getComputedStyle(element, part));
    const isMarked = marks.some(({ outlineStyle, outlineWidth }) =>
      outlineStyle !== "none" && parseFloat(outlineWidth) > 0);
    resolve(isMarked ? "" : "the focus has no mark: " + name);
  })))`;
