// The API reference in a window of 1280 by 1024 px at 400 %, and in low windows: every control can
// be reached with the keyboard and is seen while it has the focus, and no text is cut off.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { focusProblem } from "../console/focus-problems.ts";
import { cookieOfKey } from "../console/kept-contexts.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import { openTestService } from "../spec/service.ts";
import { factsOf } from "./page-facts.ts";

const opened = new AsyncDisposableStack();
/** The page of a user who is signed in: it is large, so the tests share it. */
let page: Page;
before(async () => {
  const service = opened.use(
    await openTestService({ HLUST_ENGINE: "scripted", HLUST_ROLE: "api" }),
  );
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const context = await browser.newContext();
  await context.addCookies([await cookieOfKey(service.address, service.key, browser.version())]);
  page = await context.newPage();
  await page.goto(`${service.address}/docs`);
  await page
    .getByRole("button", { name: /^Try it: / })
    .first()
    .waitFor();
});
after(() => opened.disposeAsync());

/** 320 by 256 px is a window of 1280 by 1024 px at 400 %, 640 by 256 px a phone on its side. */
const windows = [
  [320, 256],
  [640, 256],
  [1000, 300],
  [1280, 256],
] as const;

/** Presses Tab and returns what is wrong with controls that have the focus, at most `max`. */
async function walk(max: number, isOver = "false"): Promise<string[]> {
  const found: string[] = [];
  let count = 0;
  await page.evaluate("globalThis.focused = []");
  for (; count < max; count += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate<boolean>(isOver)) break;
    const covered = await page.evaluate<string | null>(focusProblem("body"));
    if (covered === null) break;
    if (covered !== "") found.push(covered);
  }
  assert.ok(count > 3, `${count} controls`);
  return found;
}

for (const [width, height] of windows) {
  test(`at ${width} by ${height} px nothing is covered, cut off or out of reach`, async () => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
    const facts = await factsOf(page);
    assert.equal(facts.width, width);
    assert.deepEqual(facts.cutOff, []);
    // The top of the page: the skip link and the navigation, which is folded in a narrow window.
    await page.evaluate("document.querySelector('.rail details').open = true");
    assert.deepEqual((await factsOf(page)).cutOff, []);
    await page.evaluate("scrollTo(0, 0); document.activeElement.blur()");
    assert.deepEqual(await walk(40), []);
    // The last link of the navigation is reached as well.
    const last = page.locator(".rail nav:visible a").last();
    await last.focus();
    assert.equal(await page.evaluate<string | null>(focusProblem("body")), "");
    // Operations with many fields, with their forms and what was answered.
    for (const operationId of ["listTranscripts", "createTranscript", "createApiKey"]) {
      const section = page.locator(`section[id="${operationId}"]`);
      const button = section.getByRole("button", { name: /^Try it: / });
      await button.focus();
      if ((await button.getAttribute("aria-expanded")) !== "true") await button.press("Enter");
      await section.locator(".try-send").waitFor();
      await button.focus();
      const outside = `!document.activeElement.closest('section[id="${operationId}"]')`;
      assert.deepEqual(await walk(60, outside), [], operationId);
      assert.deepEqual((await factsOf(page)).cutOff, [], operationId);
    }
  });
}
