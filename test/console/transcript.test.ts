// The page of one transcript: reading it, playing it, and moving through it with words, keys and
// the waveform.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
const words = talk.segments.flatMap(({ words }) =>
  words.map(({ startTime, word }) => ({ start: Number.parseFloat(startTime), word: word.trim() })),
);
let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages();
  const media = Uint8Array.from(wavOf(talk.samples));
  const { segments } = talk;
  name = await createTranscript(pages.service, { metadata: interviewMetadata, segments }, media);
  await until(async () => {
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
    return json.metadata.waveformUri !== "";
  });
});
after(() => pages[Symbol.asyncDispose]());

/** Opens a transcript and waits until its media can be played. */
async function openPlayable(path = `/${name}`, key = pages.service.key): Promise<Page> {
  const context = { permissions: ["clipboard-read", "clipboard-write"] };
  const page = await pages.open(path, { key, context });
  await page.getByRole("button", { name: "Spila" }).waitFor();
  await until(() => page.evaluate<boolean>("document.querySelector('video').readyState > 0"));
  return page;
}

interface PlayedState {
  readonly place: number;
  readonly isPlaying: boolean;
  readonly rate: number;
  /** The highlighted word, or "" if none is highlighted. */
  readonly word: string;
  /** The number of paragraphs that are marked as played. */
  readonly playedParagraphs: number;
}

function stateOf(page: Page): Promise<PlayedState> {
  return page.evaluate<PlayedState>(`(() => {
    const media = document.querySelector("video");
    const [range] = CSS.highlights.get("hlust-now") ?? [];
    return {
      place: media.currentTime,
      isPlaying: !media.paused,
      rate: media.playbackRate,
      word: range ? range.startContainer.data.slice(range.startOffset, range.endOffset) : "",
      playedParagraphs: document.querySelectorAll(".segment[data-played]").length,
    };
  })()`);
}

/** Waits until playback has reached a state. */
async function untilState(
  page: Page,
  isReached: (now: PlayedState) => boolean,
): Promise<PlayedState> {
  let now: PlayedState | undefined;
  await until(async () => {
    now = await stateOf(page);
    return isReached(now);
  });
  assert.ok(now);
  return now;
}

const near = (place: number) => (now: PlayedState) => Math.abs(now.place - place) < 0.05;
const wordAt = (seconds: number) => words.findLast(({ start }) => start <= seconds + 0.002)?.word;
const startOf = (word: string) => words.find((one) => one.word === word)?.start ?? Number.NaN;

/** Presses keys so fast that the media element fires no event before the last key. */
function pressAtOnce(page: Page, keys: readonly string[]): Promise<void> {
  return page.evaluate(
    `for (const key of ${JSON.stringify(keys)}) dispatchEvent(new KeyboardEvent("keydown", { key }))`,
  );
}

/** Returns the middle of a word on the screen. */
function pointOf(page: Page, word: string): Promise<{ x: number; y: number }> {
  return page.evaluate(`(() => {
    for (const p of document.querySelectorAll(".segment p")) {
      const at = p.firstChild.data.indexOf(${JSON.stringify(word)});
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(p.firstChild, at);
      range.setEnd(p.firstChild, at + ${word.length});
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return { x: (left + right) / 2, y: (top + bottom) / 2 };
    }
  })()`);
}

test("the highlight moves through the text during playback, and stays where playback is paused", async () => {
  await using page = await openPlayable();
  assert.equal(
    await page.locator(".words-text[data-listening]").count(),
    0,
    "the text shows no position yet",
  );
  await page.getByRole("button", { name: "Spila" }).click();
  const seen = new Set<string>();
  await untilState(page, ({ word }) => seen.add(word) && seen.size > 4);
  await page.getByRole("button", { name: "Gera hlé" }).click();
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const { place, word } = await untilState(page, ({ isPlaying }) => !isPlaying);
  assert.equal(word, wordAt(place));
  const order = words.map((one) => one.word);
  const places = [...seen].filter((one) => one !== "").map((one) => order.indexOf(one));
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
  );
  await page.locator("path.wave-played").waitFor();
  assert.ok((await page.locator(".player-clock").textContent())?.startsWith("0:0"));
});

test("a click on a word seeks to it, and selecting text does not seek", async () => {
  await using page = await openPlayable();
  const at = await pointOf(page, "rennslið");
  await page.mouse.click(at.x, at.y);
  const there = await untilState(page, ({ word }) => word === "rennslið");
  assert.ok(near(startOf("rennslið"))(there), String(there.place));
  assert.equal(there.playedParagraphs, 1);
  const from = await pointOf(page, "Góðan");
  const to = await pointOf(page, "hækkað");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  assert.equal((await stateOf(page)).word, "rennslið");
  // A click next to the text is not on a word.
  const last = await pointOf(page, "vaxa.");
  await page.mouse.click(last.x + 120, last.y);
  assert.equal((await stateOf(page)).word, "rennslið");
  // The middle of the waveform is the middle of the recording.
  const line = await page.getByRole("slider").boundingBox();
  assert.ok(line);
  await page.mouse.click(line.x + line.width / 2, line.y + 10);
  await untilState(page, ({ place }) => Math.abs(place - talk.seconds / 2) < 0.2);
  await checkLooks(page, "transcript");
});

test("keys play, pause and seek, except in a field or with AltGr", async () => {
  await using page = await openPlayable();
  await page.keyboard.press("k");
  await untilState(page, ({ isPlaying }) => isPlaying);
  await page.keyboard.press(" ");
  await untilState(page, ({ isPlaying }) => !isPlaying);
  await page.keyboard.press("5");
  await untilState(page, ({ place }) => Math.abs(place - talk.seconds / 2) < 0.2);
  const half = (await stateOf(page)).place;
  await page.keyboard.press("l");
  await untilState(page, near(half + 5));
  await page.keyboard.press("ArrowLeft");
  await untilState(page, near(half));
  await page.keyboard.press("Shift+J");
  await untilState(page, near(half - 1));
  await page.keyboard.press("0");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await untilState(page, ({ word }) => word === words[2]?.word);
  await page.keyboard.press("ArrowDown");
  await untilState(page, ({ word }) => word === "Já,");
  await page.keyboard.press(">");
  await untilState(page, ({ rate }) => rate === 1.25);
  await page.keyboard.press("<");
  await untilState(page, ({ rate }) => rate === 1);
  await pressAtOnce(page, [">", ">", ">", "<", "k", "k"]);
  await untilState(page, ({ rate, isPlaying }) => rate === 1.5 && !isPlaying);
  await pressAtOnce(page, ["<", "<", "k", "k", "k"]);
  await untilState(page, ({ rate, isPlaying }) => rate === 1 && isPlaying);
  await page.keyboard.press("k");
  await untilState(page, ({ isPlaying }) => !isPlaying);
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const { place } = await stateOf(page);
  await page.keyboard.press("Control+l");
  await page.evaluate(
    'dispatchEvent(new KeyboardEvent("keydown", { key: "l", modifierAltGraph: true }))',
  );
  await page.getByLabel("Hraði").focus();
  await page.keyboard.press("l");
  assert.equal((await stateOf(page)).place, place);

  await page.locator("h1").focus();
  await page.keyboard.press("c");
  await page.locator(".toast").getByText("Slóð á þennan stað var afrituð.").waitFor();
  const copied = new URL(await page.evaluate<string>("navigator.clipboard.readText()"));
  assert.equal(copied.pathname, `/console/${name}`);
  assert.ok(Math.abs(Number(copied.searchParams.get("t")) - place) < 0.1);

  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Flýtilyklar" });
  await sheet.getByText("Næsta málsgrein").waitFor();
  await checkLooks(page, "transcript-shortcuts", someLooks);
  await page.getByRole("dialog").getByRole("checkbox").uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator("h1").focus();
  await page.keyboard.press("l");
  assert.equal((await stateOf(page)).place, place, "the shortcuts are off");
  // The service keeps the choice for the user of the other tests.
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("show shortcuts");
  await page.keyboard.press("Enter");
  const kept = page.waitForResponse((response) => response.request().method() === "PUT");
  await page.getByRole("dialog").getByRole("checkbox").check();
  assert.equal((await kept).status(), 200);
});

test("the times are one tab stop, and Enter plays from the focused time", async () => {
  await using page = await openPlayable();
  await page.locator("a.segment-time").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator('a.segment-time[tabindex="0"]').count(), 1);
  assert.equal((await stateOf(page)).place, 0, "moving the focus does not seek");
  await page.keyboard.press("Enter");
  await untilState(page, ({ isPlaying, place }) => isPlaying && place >= startOf("Hvað"));
  assert.ok(!page.url().includes("t="), "the page is not left");
});

test("the page keeps the current word in view until the user scrolls away from it", async () => {
  await using page = await openPlayable();
  // The window is so low that the end of the text is not visible.
  await page.setViewportSize({ width: 1280, height: 420 });
  const isInView = () =>
    page.evaluate<boolean>(`(() => {
      const [{ startContainer, startOffset, endOffset }] = CSS.highlights.get("hlust-now");
      const range = document.createRange();
      range.setStart(startContainer, startOffset);
      range.setEnd(startContainer, endOffset);
      const { top, bottom } = range.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight - document.querySelector(".player").offsetHeight;
    })()`);
  await page.keyboard.press("8");
  await untilState(page, ({ place }) => place > 20);
  await until(isInView);
  const follow = page.getByRole("button", { name: "Fylgja" });
  await page.keyboard.press("4");
  await page.keyboard.press("k");
  await untilState(page, ({ isPlaying }) => isPlaying);
  await until(isInView);
  assert.equal(await follow.count(), 0);
  await page.mouse.wheel(0, 5_000);
  await follow.waitFor();
  await page.evaluate("scrollTo(0, 0)");
  await follow.click();
  await follow.waitFor({ state: "detached" });
  await until(isInView);
});

test("playback resumes where the user stopped, or at the place in the address", async () => {
  await using page = await openPlayable();
  await page.keyboard.press("5");
  const { place } = await untilState(page, ({ place }) => place > 5);
  await page.goto(`${pages.service.address}/console/transcripts`);
  // The window is so low that the place is not visible from the start of the text.
  await page.setViewportSize({ width: 1280, height: 420 });
  await page.goto(`${pages.service.address}/console/${name}`);
  await untilState(page, near(Math.round(place * 10) / 10));
  await until(async () => (await page.evaluate<number>("scrollY")) > 0);
  await until(async () => (await stateOf(page)).word === wordAt(place));
  await page.goto(`${pages.service.address}/console/${name}?t=8.5`);
  await untilState(page, near(8.5));
  assert.equal((await stateOf(page)).word, wordAt(8.5));
});

test("an expired media or waveform URL is renewed, and playback resumes where it stopped", async () => {
  await using page = await openPlayable(`/${name}?t=12`);
  expectProblems(page, /^403 GET \/media\//);
  const refused = new Set<string>();
  let reads = 0;
  // Requests get the service's response to an old signature until the transcript has been read
  // again.
  for (const pattern of ["**/media/*", "**/media/waveforms/*"]) {
    await page.route(pattern, async (route) => {
      if (reads > 1 && refused.size === 2) return await route.continue();
      const url = route
        .request()
        .url()
        .replace(/token=./, "token=_");
      const { status } = await fetch(url);
      refused.add(pattern);
      await route.fulfill({ status });
    });
  }
  // If both the media and the waveform need a new URL, the transcript is read only once.
  await page.route(`**/console/api/v1alpha1/${name}`, async (route) => {
    reads += 1;
    if (reads > 1) await until(async () => refused.size === 2);
    await route.continue();
  });
  await page.reload();
  await page.getByRole("button", { name: "Spila" }).click();
  await untilState(page, ({ isPlaying, place }) => isPlaying && place > 12 && place < 20);
  await page.locator("path.wave-played").waitFor();
  assert.equal(refused.size, 2);
});

test("200,000 words can be searched and played without further changes to the page", async () => {
  const { service } = pages;
  const segments = longSegments(200_000).map((segment, at) => ({
    ...segment,
    // The last paragraph has a word that no other paragraph has.
    words: segment.words.map((word, of) =>
      at === 9_999 && of === 19 ? { ...word, word: "Skeiðará" } : word,
    ),
  }));
  const media = Uint8Array.from(wavOf(talk.samples));
  const long = await createTranscript(
    service,
    { metadata: { ...interviewMetadata, subject: "Umræður á Alþingi", speakers: {} }, segments },
    media,
  );
  await using page = await openPlayable(`/${long}?t=5`);
  await page.getByText("Skeiðará").waitFor({ state: "attached" });
  assert.equal(await page.evaluate("document.querySelectorAll('.segment').length"), 10_000);
  // Distant parts of the text are not laid out.
  assert.ok(
    await page.evaluate<boolean>(
      "document.querySelector('.words-part:last-child .segment').checkVisibility({ contentVisibilityAuto: true }) === false",
    ),
  );
  assert.ok(
    await page.evaluate<boolean>('window.find("Skeiðará")'),
    "the browser's search finds the word",
  );
  await page.evaluate(`
    globalThis.changes = 0;
    new MutationObserver((list) => { changes += list.length; }).observe(
      document.querySelector(".words"), { subtree: true, childList: true, attributes: true, characterData: true })`);
  const { word } = await stateOf(page);
  await page.locator("h1").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await untilState(page, (now) => now.word !== word || now.place > 5);
  assert.equal(await page.evaluate("changes"), 0);
});

test("the current word is marked with a span in a browser without CSS highlights", async () => {
  await using page = await openPlayable();
  await page.addInitScript("delete globalThis.Highlight");
  await page.reload();
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const at = await pointOf(page, "rennslið");
  await page.mouse.click(at.x, at.y);
  const box = await page.locator(".words-wash").boundingBox();
  assert.ok(box && Math.abs(box.x + box.width / 2 - at.x) < 3, JSON.stringify({ box, at }));
  assert.ok(Math.abs(box.y + box.height / 2 - at.y) < 3);
});
