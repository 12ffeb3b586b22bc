import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { putAxe } from "./put-axe.ts";

/** The narrowest and the widest window, and the widths at which the layout changes. */
const widths = [320, 390, 761, 1080, 1920] as const;

/** A layout shift above this is seen as one (web.dev, CLS: good is below 0.1). */
const shiftMax = 0.05;

/**
 * Checks a page as it is shown: it is not wider than the window from 320 px to 1920 px, and axe
 * finds nothing in it, whatever the impact. The frame around pages has its own test.
 */
export async function checkPage(page: Page): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(wide <= width, `${page.url()} is ${wide} px wide in a window of ${width} px`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await putAxe(page);
  const found = await page.evaluate<string[]>(
    `axe.run({ exclude: [[".rail"], [".foot"]] }, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) =>
        id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`,
  );
  assert.deepEqual(found, [], page.url());
}

/**
 * Reloads a page and waits for `shown()`. Nothing that was shown before may have moved by more than
 * a small part of the window (layout shift).
 */
export async function checkShift(page: Page, shown: () => Promise<void>): Promise<void> {
  await page.reload();
  await shown();
  const shift = await shiftOf(page);
  assert.ok(shift < shiftMax, `${page.url()} shifts by ${shift}`);
}

/** Returns by how much what a page shows has moved since it was opened (web.dev, CLS). */
export async function shiftOf(page: Page): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    let shift = 0;
    // Shifts of before are handed to the callback, and those of the last frame are not yet.
    const add = (entries) => entries.forEach(({ value }) => (shift += value));
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => {
      add(observer.takeRecords());
      resolve(shift);
    }));
  })`);
}
