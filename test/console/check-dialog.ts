import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { focusProblems } from "./focus-problems.ts";
import { findingsOfAxe } from "./open-test-pages.ts";

/** 320 by 256 px is a window of 1280 by 1024 px at 400 %. */
const windows = [
  { width: 320, height: 256 },
  { width: 320, height: 568 },
];

/** The maximum number of controls of a dialog that are visited; lists repeat theirs. */
const visitedMax = 40;

/**
 * Checks the dialog that a page shows, in a window of 320 px and at 400 %: nothing scrolls sideways
 * or is cut, all of it can be reached, each control that gets the focus is shown with a mark that
 * forced colors keep, and axe finds nothing. `name` is for the message of a failure.
 */
export async function checkDialog(page: Page, name = "the dialog"): Promise<void> {
  await page.getByRole("dialog").waitFor();
  await until(() =>
    page.evaluate<boolean>(`!/Sæki…/.test(document.querySelector("[role=dialog]").innerText)`),
  );
  const before = page.viewportSize() ?? assert.fail("no size");
  const found: string[] = [];
  for (const size of windows) {
    await page.setViewportSize(size);
    const cut = await page.evaluate<string[]>(cutInDialog);
    found.push(...cut.map((one) => `at ${size.width} x ${size.height} px, ${one}`));
  }
  // The rules about whole pages do not know that a dialog hides the rest of the page.
  found.push(...(await findingsOfAxe(page, "[role=dialog]")));
  found.push(...(await focusProblems(page, { within: "[role=dialog]", visitedMax })));
  await page.setViewportSize(before);
  assert.deepEqual(found, [], name);
}

/** Returns what is wider than the window, lost above it, or in a box too low to read in. */
const cutInDialog = `(() => {
  const dialog = document.querySelector("[role=dialog]");
  const found = [];
  const nameOf = (one) => one.outerHTML.slice(0, 120);
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is too wide");
  for (let box = dialog; box; box = box.parentElement) {
    if (box.scrollWidth > box.clientWidth + 1) found.push("scrolls sideways: " + box.className);
    box.scrollTop = 0;
  }
  for (const one of dialog.querySelectorAll("*")) {
    if (!one.checkVisibility({ visibilityProperty: true }) || one.closest(".unseen")) continue;
    const { left, right, top, width, height } = one.getBoundingClientRect();
    const { overflowX, overflowY } = getComputedStyle(one);
    if (width > 1 && height > 1 && (right > innerWidth + 1 || left < -1)) {
      found.push("beyond the edge: " + nameOf(one));
    }
    if (top < -1 && !one.closest("[class*=results]")) found.push("above the window: " + nameOf(one));
    const scrolls = /auto|scroll/;
    const isBox = one.scrollHeight > one.clientHeight + 1 && scrolls.test(overflowY);
    if (isBox && one.clientHeight < 60 && !one.matches("textarea, input")) {
      found.push(one.clientHeight + " px high: " + nameOf(one));
    }
    const isWide = one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1;
    const hides = /auto|scroll|hidden/.test(overflowX);
    if (isWide && hides && !one.matches("input, select, textarea")) {
      found.push("cut: " + nameOf(one));
    }
  }
  return [...new Set(found)].slice(0, 8);
})()`;
