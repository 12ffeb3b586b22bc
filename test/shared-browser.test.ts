// The browser that the page files of a suite share (test/suites/run-page-suite.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, shareBrowser } from "./fixtures/open-browser.ts";

test("files share a browser, but no page, cookie or crash of one another", async () => {
  await using _shared = shareBrowser();
  const outer = await openBrowser();
  const outerPages = [await outer.newPage(), await (await outer.newContext()).newPage()];
  const first = await openBrowser();
  const page = await first.newPage();
  const whole = page.context().browser() ?? assert.fail("the page has no browser");
  await first.close();
  assert.equal(page.isClosed(), true);
  assert.deepEqual(
    outerPages.map((each) => each.isClosed()),
    [false, false],
    "a service with pages that a test opens within another one closes only its own",
  );

  const second = await openBrowser();
  assert.equal(whole.isConnected(), true, "it is the same browser");
  assert.deepEqual(second.contexts(), []);
  assert.equal((await second.newContext()).browser(), whole);

  await using own = await openBrowser(["--mute-audio"]);
  assert.notEqual((await own.newContext()).browser(), whole, "other arguments need another");

  await whole.close();
  const third = await openBrowser();
  assert.equal((await third.newContext()).browser()?.isConnected(), true);
  await third.close();
});
