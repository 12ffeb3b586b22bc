import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";

/** Returns the titles of the rows of the list of transcripts that are rendered, in order. */
export async function listedTitles(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll(".transcript-row .title")].map((title) => title.textContent)`,
  );
}

/** Waits until the list has the right titles, and returns them. */
export async function untilListed(
  page: Page,
  isRight: (found: readonly string[]) => boolean,
): Promise<string[]> {
  let found: string[] = [];
  await until(async () => isRight((found = await listedTitles(page))));
  return found;
}
