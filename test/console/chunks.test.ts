// Parts of pages that are loaded when they are opened: without a network they say so, the page
// stays as it is, and they can be tried again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { caretOf, openEditing, placeCaret } from "./edited-page.ts";
import { createInterview } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

const missing = (page: Page) =>
  page.getByRole("alert").filter({ hasText: "Ekki tókst að sækja hluta síðunnar." });
const again = (page: Page) => missing(page).getByRole("button", { name: "Reyna aftur" });

/** Fails requests of files of the console, until the result is called. */
async function failFiles(page: Page, files: RegExp): Promise<() => Promise<void>> {
  await page.route(files, (route) => route.abort("internetdisconnected"));
  return () => page.unroute(files);
}

test("a dialog that cannot be loaded says so, and can be tried again", async () => {
  await using page = await pages.open("/vocabulary");
  expectProblems(page, /DISCONNECTED GET \/console\/assets\//);
  const restore = await failFiles(page, /\/assets\/edit-phrase-.*\.js$/);
  const add = page.getByRole("button", { name: "Bæta við", exact: true });
  await add.click();
  await missing(page).waitFor();
  await checkLooks(page, "chunk-missing", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  // The page is there, and another attempt without a network fails in the same way.
  await add.waitFor();
  await again(page).click();
  await missing(page).waitFor();
  await restore();
  await again(page).click();
  await page.getByRole("dialog").waitFor();
  assert.equal(await missing(page).count(), 0);
});

test("a dialog whose styles cannot be loaded is not shown without them", async () => {
  await using page = await pages.open("/vocabulary");
  expectProblems(page, /DISCONNECTED GET \/console\/assets\//);
  const open = page.getByRole("button", { name: "Flytja inn lista" });
  await open.waitFor();
  const restore = await failFiles(page, /\/assets\/.*\.css$/);
  await open.click();
  await missing(page).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await restore();
  await again(page).click();
  await page.getByRole("dialog").waitFor();
  assert.equal(await missing(page).count(), 0);
  // The dialog is over the page, as its styles have it.
  const position = await page.evaluate(
    `getComputedStyle(document.querySelector(".dialog-ground")).position`,
  );
  assert.equal(position, "fixed");
});

test("the editor keeps its text and caret when a dialog of it cannot be loaded", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /DISCONNECTED GET \/console\/assets\//);
  const restore = await failFiles(page, /\/assets\/(?:go-to-time|note-dialog)-.*\.js$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  const caret = await caretOf(page);
  await page.keyboard.press("Control+g");
  await missing(page).waitFor();
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).getByText("Jæja.").waitFor();
  assert.deepEqual(await caretOf(page), caret);
  await restore();
  await again(page).click();
  await page.getByRole("dialog").waitFor();
});
