import type { BrowserContext, Page } from "playwright-core";

/** What the tests of a file expect to go wrong, by the context of their pages. */
const expected = new WeakMap<BrowserContext, RegExp[]>();

/**
 * Names what a test provokes, in any page of its file: failed requests, as `400 PATCH
 * /console/api/v1/account` or `net::ERR_FAILED GET /console/assets/x.js`, and what the browser
 * logs, as `warning: <text>`.
 */
export function expectProblems(page: Page, ...patterns: readonly RegExp[]): void {
  const all = expected.get(page.context());
  if (!all) throw new Error("the page is not watched (openTestPages)");
  all.push(...patterns);
}

/** Lets the tests of a file name their problems in this list. */
export function keepExpected(context: BrowserContext, patterns: RegExp[]): void {
  expected.set(context, patterns);
  const setOffline = context.setOffline.bind(context);
  context.setOffline = async (isOffline) => {
    // Without a network, which a test takes away, every request fails.
    if (isOffline) patterns.push(/ERR_INTERNET_DISCONNECTED/);
    await setOffline(isOffline);
  };
}
