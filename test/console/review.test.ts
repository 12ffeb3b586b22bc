// The review of a transcript while it is edited: checked paragraphs, what was listened to, and
// paragraphs that are put back, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { caretOf, openEditing, placeCaret, textsOf, untilTexts } from "./edited-page.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

async function createTalk(): Promise<string> {
  const media = Uint8Array.from(wavOf(talk.samples));
  const { segments } = talk;
  return await createTranscript(pages.service, { metadata: interviewMetadata, segments }, media);
}

async function openTalk(name: string): Promise<Page> {
  const page = await openEditing(pages, name);
  await page.waitForFunction("document.querySelector('video, audio')?.readyState > 0");
  return page;
}

interface Range {
  readonly kind: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly authorName: string;
}

/** Returns the marks of one kind that the service has. */
async function marksOf(name: string, kind: string): Promise<readonly Range[]> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}/review`);
  return json.ranges.filter((range: Range) => range.kind === kind);
}

/** Returns for each paragraph what its sign says; "" if there is none. */
function signsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `Array.from(document.querySelectorAll(".segment-checked"), (sign) => sign.hidden ? "" : sign.ariaLabel)`,
  );
}

const placeIn = (page: Page) =>
  page.evaluate<number>("document.querySelector('video, audio').currentTime");

const seconds = (time = ""): number => Number.parseFloat(time);

test("Ctrl+Enter marks the paragraph as checked for everybody, and plays the next one", async () => {
  const name = await createTalk();
  await using page = await openTalk(name);
  await page.getByText("0 % yfirfarið").waitFor();
  await placeCaret(page, 0, 4);
  await page.keyboard.press("Control+Enter");
  await until(async () => (await signsOf(page))[0] === "Yfirfarið: First key");
  assert.deepEqual(await signsOf(page), ["Yfirfarið: First key", "", "", ""]);
  assert.deepEqual(await caretOf(page), { paragraph: 1, offset: 0 });
  const second = talk.segments[1];
  await until(async () => (await placeIn(page)) > seconds(second?.startTime) + 0.2);
  const [mark, ...more] = await marksOf(name, "CHECKED");
  assert.deepEqual(more, []);
  assert.equal(seconds(mark?.startTime), seconds(talk.segments[0]?.startTime));
  assert.equal(seconds(mark?.endTime), seconds(talk.segments[0]?.endTime));
  assert.equal(mark?.authorName, "First key");
  const lengths = talk.segments.map((one) => seconds(one.endTime) - seconds(one.startTime));
  const all = lengths.reduce((sum, one) => sum + one, 0);
  const percent = Math.floor(((lengths[0] ?? 0) / all) * 100);
  await page.getByText(`${percent} % yfirfarið`).waitFor();
  await page.locator(".review-lane .review-checked[d^=M0]").waitFor({ state: "attached" });
  // A word that is typed leaves the mark: it is about the sound.
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Sko, ");
  assert.equal((await signsOf(page))[0], "Yfirfarið: First key");
  await using other = await openTalk(name);
  await until(async () => (await signsOf(other))[0] === "Yfirfarið: First key");
});

test("the next unchecked paragraph is found past the end, and marks are removed", async () => {
  const name = await createTalk();
  await using page = await openTalk(name);
  for (const paragraph of [1, 2, 3]) {
    await placeCaret(page, paragraph, 2);
    await page.keyboard.press("Control+Enter");
    await until(async () => (await signsOf(page))[paragraph] !== "");
  }
  await placeCaret(page, 1, 3);
  await page.keyboard.press("Control+Shift+Enter");
  await until(async () => (await caretOf(page)).paragraph === 0);
  await page.getByRole("button", { name: "Merkja yfirfarið" }).click();
  await page.getByText("100 % yfirfarið").waitFor();
  await page.keyboard.press("Control+Shift+Enter");
  await page.locator(".toast").getByText("Allar málsgreinar eru yfirfarnar.").waitFor();
  await placeCaret(page, 2, 1);
  await page.keyboard.press("Alt+Enter");
  await until(async () => (await signsOf(page))[2] === "");
  assert.equal((await marksOf(name, "CHECKED")).length, 3);
  await placeCaret(page, 3, 1);
  await page.getByRole("button", { name: "Taka merkið af" }).click();
  await until(async () => (await signsOf(page))[3] === "");
  assert.equal((await marksOf(name, "CHECKED")).length, 2);
});

test("marks of another page appear at once, and disappear when they are removed", async () => {
  const name = await createTalk();
  await using page = await openTalk(name);
  await using other = await openTalk(name);
  await other.getByText("0 % yfirfarið").waitFor();
  await page.bringToFront();
  await placeCaret(page, 1, 4);
  await page.keyboard.press("Control+Enter");
  // Marks are read every 30 seconds anyway.
  await until(async () => (await signsOf(other))[1] === "Yfirfarið: First key", 12_000);
  await placeCaret(page, 1, 4);
  await page.keyboard.press("Alt+Enter");
  await until(async () => (await signsOf(other))[1] === "", 12_000);
});

test("what is played is reported on each pause, and shown along the waveform", async () => {
  const name = await createTalk();
  await using page = await openTalk(name);
  await placeCaret(page, 0, 0);
  await page.keyboard.press("F4");
  await until(async () => (await placeIn(page)) > 1);
  // On a busy machine, the last frame before the key is half a second old.
  const pausedAt = await page.evaluate<number>(`(() => {
    const media = document.querySelector("video, audio");
    const busyUntil = performance.now() + 500;
    while (performance.now() < busyUntil);
    const place = media.currentTime;
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "F4", code: "F4", bubbles: true }));
    return place;
  })()`);
  await until(async () => (await marksOf(name, "LISTENED")).length === 1);
  const [mark] = await marksOf(name, "LISTENED");
  assert.equal(seconds(mark?.startTime), 0);
  const end = seconds(mark?.endTime);
  assert.ok(Math.abs(end - pausedAt) < 0.25, `${end} s, paused at ${pausedAt} s`);
  assert.equal(mark?.authorName, "First key");
  await page.locator(".review-lane .review-listened[d^=M0]").waitFor({ state: "attached" });
  assert.deepEqual(await marksOf(name, "CHECKED"), []);
});

test("a paragraph is put back to what was recognized, and this is undone", async () => {
  const name = await createTalk();
  await using page = await openTalk(name);
  await page.getByText("0 % yfirfarið").waitFor();
  const before = await textsOf(page);
  await placeCaret(page, 2, 0);
  await page.keyboard.type("Nú? ");
  const edited = before.with(2, `Nú? ${before[2]}`);
  await untilTexts(page, edited);
  await page.keyboard.press("Alt+Shift+Backspace");
  await untilTexts(page, before);
  await page.keyboard.press("Control+z");
  await untilTexts(page, edited);
});

test("an edited text with checked paragraphs passes axe in every look", async () => {
  const name = await createTalk();
  await using page = await openTalk(name);
  await placeCaret(page, 0, 4);
  await page.keyboard.press("Control+Enter");
  await until(async () => (await signsOf(page))[0] !== "");
  // The next paragraph is played; a sound that is paused before it begins is not listened to.
  const playedTo = seconds(talk.segments[1]?.startTime) + 0.3;
  await until(async () => (await placeIn(page)) > playedTo);
  await page.keyboard.press("F4");
  await page.locator(".review-lane .review-listened[d^=M]").waitFor({ state: "attached" });
  await checkLooks(page, "transcript-review", someLooks);
  await using english = await pages.open(`/${name}`, { context: { locale: "en-GB" } });
  await english.locator(".segment").first().waitFor();
  await english.keyboard.press("e");
  await until(async () => (await signsOf(english))[0] === "Checked by First key");
  await english.getByText(/^\d+% checked$/).waitFor();
});
