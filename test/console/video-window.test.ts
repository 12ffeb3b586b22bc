// A video in a window of its own (Picture-in-Picture), which only the browser of users has.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { filmOf } from "./film.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" }, [], "full");
  const metadata = { ...interviewMetadata, fileType: "VIDEO" };
  const film = filmOf(talk.samples);
  name = await createTranscript(pages.service, { metadata, segments: talk.segments }, film);
});
after(() => pages[Symbol.asyncDispose]());

const toWindow = (page: Page) =>
  page.getByRole("button", { name: "Færa myndskeiðið í eigin glugga" });
const isFloating = (page: Page) =>
  page.evaluate<boolean>(
    "document.pictureInPictureElement !== null && document.pictureInPictureElement === document.querySelector('video')",
  );
const placeOf = (page: Page) =>
  page.evaluate<number>("document.querySelector('video').currentTime");

/** Opens the transcript, and waits until its video has a picture. */
async function openVideo(): Promise<Page> {
  const page = await pages.open(`/${name}`);
  await page.getByRole("button", { name: "Spila" }).waitFor();
  await until(() => page.evaluate<boolean>("document.querySelector('video').videoWidth === 320"));
  return page;
}

test("a video moves to its own window and back while it plays, and leaves its place on the page", async () => {
  await using page = await openVideo();
  assert.equal(await page.evaluate("document.pictureInPictureEnabled"), true);
  await page.locator(".picture video").click();
  await until(async () => (await placeOf(page)) > 0.2);
  await toWindow(page).focus();
  await page.keyboard.press("Enter");
  await until(() => isFloating(page));
  // The text has the room of the picture, and what is played goes on.
  await page.locator(".picture").waitFor({ state: "detached" });
  assert.equal(await toWindow(page).count(), 0);
  const movedAt = await placeOf(page);
  await until(async () => (await placeOf(page)) > movedAt + 0.3);
  // The player of the page controls the video in its window.
  await page.getByRole("button", { name: "Gera hlé" }).click();
  await until(() => page.evaluate<boolean>("document.querySelector('video').paused"));
  assert.equal(await isFloating(page), true);
  // The user closes the window.
  await page.evaluate("document.exitPictureInPicture()");
  await page.locator(".picture video").waitFor();
  await toWindow(page).waitFor();
  assert.equal(await isFloating(page), false);
  assert.ok((await placeOf(page)) > movedAt);
});

test("the window closes when another page of the console is opened", async () => {
  await using page = await openVideo();
  await toWindow(page).click();
  await until(() => isFloating(page));
  await page.getByRole("link", { name: "Yfirlit" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Yfirlit" }).waitFor();
  await until(() => page.evaluate<boolean>("document.pictureInPictureElement === null"));
});

test("the picture stays where it is if the browser refuses the window, and without such windows no button is shown", async () => {
  await using page = await openVideo();
  // As a user's policy or another program that has the window does.
  await page.evaluate("document.querySelector('video').disablePictureInPicture = true");
  await toWindow(page).click();
  await page.locator(".picture video").click();
  await until(async () => (await placeOf(page)) > 0.2);
  assert.equal(await isFloating(page), false);
  assert.equal(await toWindow(page).count(), 1);
  await page.addInitScript(
    "Object.defineProperty(Document.prototype, 'pictureInPictureEnabled', { value: false })",
  );
  await page.reload();
  await page.locator(".picture video").waitFor();
  await page.getByRole("button", { name: "Stækka myndskeiðið" }).waitFor();
  assert.equal(await toWindow(page).count(), 0);
});
