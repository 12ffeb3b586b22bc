// The page of one transcript: it is read, heard, and gone through by words, keys and the line of
// the player.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
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

/** Opens a transcript, and waits for what plays it. */
async function openHeard(path = `/${name}`, key = pages.service.key): Promise<Page> {
  const context = { permissions: ["clipboard-read", "clipboard-write"] };
  const page = await pages.open(path, { key, context });
  await page.getByRole("button", { name: "Spila" }).waitFor();
  await until(() => page.evaluate<boolean>("document.querySelector('video').readyState > 0"));
  return page;
}

interface Heard {
  readonly place: number;
  readonly isPlaying: boolean;
  readonly rate: number;
  /** The word with the wash; "" for none. */
  readonly word: string;
  /** Paragraphs that are ink as a whole. */
  readonly heardWhole: number;
}

function heard(page: Page): Promise<Heard> {
  return page.evaluate<Heard>(`(() => {
    const media = document.querySelector("video");
    const [range] = CSS.highlights.get("hlust-now") ?? [];
    return {
      place: media.currentTime,
      isPlaying: !media.paused,
      rate: media.playbackRate,
      word: range ? range.startContainer.data.slice(range.startOffset, range.endOffset) : "",
      heardWhole: document.querySelectorAll(".segment[data-heard]").length,
    };
  })()`);
}

/** Waits until what is heard is like that. */
async function untilHeard(page: Page, holds: (now: Heard) => boolean): Promise<Heard> {
  let now: Heard | undefined;
  await until(async () => {
    now = await heard(page);
    return holds(now);
  });
  assert.ok(now);
  return now;
}

const near = (place: number) => (now: Heard) => Math.abs(now.place - place) < 0.05;
const wordAt = (seconds: number) => words.findLast(({ start }) => start <= seconds + 0.002)?.word;
const startOf = (word: string) => words.find((one) => one.word === word)?.start ?? Number.NaN;

/** Presses keys so fast that the recording tells of none before the last. */
function pressAtOnce(page: Page, keys: readonly string[]): Promise<void> {
  return page.evaluate(
    `for (const key of ${JSON.stringify(keys)}) dispatchEvent(new KeyboardEvent("keydown", { key }))`,
  );
}

/** The middle of a word on the screen. */
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

test("what is heard moves through the text, and stands where the playing stops", async () => {
  await using page = await openHeard();
  assert.equal(await page.locator(".words-text[data-listening]").count(), 0, "only read as yet");
  await page.getByRole("button", { name: "Spila" }).click();
  const seen = new Set<string>();
  await untilHeard(page, ({ word }) => seen.add(word) && seen.size > 4);
  await page.getByRole("button", { name: "Gera hlé" }).click();
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const { place, word } = await untilHeard(page, ({ isPlaying }) => !isPlaying);
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

test("a press on a word goes there, and marking text does not", async () => {
  await using page = await openHeard();
  const at = await pointOf(page, "rennslið");
  await page.mouse.click(at.x, at.y);
  const there = await untilHeard(page, ({ word }) => word === "rennslið");
  assert.ok(near(startOf("rennslið"))(there), String(there.place));
  assert.equal(there.heardWhole, 1);
  const from = await pointOf(page, "Góðan");
  const to = await pointOf(page, "hækkað");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  assert.equal((await heard(page)).word, "rennslið");
  // Beside the text is no word.
  const last = await pointOf(page, "vaxa.");
  await page.mouse.click(last.x + 120, last.y);
  assert.equal((await heard(page)).word, "rennslið");
  // Half way of the line is half way of the recording.
  const line = await page.getByRole("slider").boundingBox();
  assert.ok(line);
  await page.mouse.click(line.x + line.width / 2, line.y + 10);
  await untilHeard(page, ({ place }) => Math.abs(place - talk.seconds / 2) < 0.2);
  await checkLooks(page, "transcript");
});

test("keys play, stop and go through it, but not those of a field or with AltGr", async () => {
  await using page = await openHeard();
  await page.keyboard.press("k");
  await untilHeard(page, ({ isPlaying }) => isPlaying);
  await page.keyboard.press(" ");
  await untilHeard(page, ({ isPlaying }) => !isPlaying);
  await page.keyboard.press("5");
  await untilHeard(page, ({ place }) => Math.abs(place - talk.seconds / 2) < 0.2);
  const half = (await heard(page)).place;
  await page.keyboard.press("l");
  await untilHeard(page, near(half + 5));
  await page.keyboard.press("ArrowLeft");
  await untilHeard(page, near(half));
  await page.keyboard.press("Shift+J");
  await untilHeard(page, near(half - 1));
  await page.keyboard.press("0");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await untilHeard(page, ({ word }) => word === words[2]?.word);
  await page.keyboard.press("ArrowDown");
  await untilHeard(page, ({ word }) => word === "Já,");
  await page.keyboard.press(">");
  await untilHeard(page, ({ rate }) => rate === 1.25);
  await page.keyboard.press("<");
  await untilHeard(page, ({ rate }) => rate === 1);
  await pressAtOnce(page, [">", ">", ">", "<", "k", "k"]);
  await untilHeard(page, ({ rate, isPlaying }) => rate === 1.5 && !isPlaying);
  await pressAtOnce(page, ["<", "<", "k", "k", "k"]);
  await untilHeard(page, ({ rate, isPlaying }) => rate === 1 && isPlaying);
  await page.keyboard.press("k");
  await untilHeard(page, ({ isPlaying }) => !isPlaying);
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const { place } = await heard(page);
  await page.keyboard.press("Control+l");
  await page.evaluate(
    'dispatchEvent(new KeyboardEvent("keydown", { key: "l", modifierAltGraph: true }))',
  );
  await page.getByLabel("Hraði").focus();
  await page.keyboard.press("l");
  assert.equal((await heard(page)).place, place);

  await page.locator("h1").focus();
  await page.keyboard.press("c");
  await page.getByText("Slóð á þennan stað var afrituð.").waitFor({ state: "attached" });
  const copied = new URL(await page.evaluate<string>("navigator.clipboard.readText()"));
  assert.equal(copied.pathname, `/console/${name}`);
  assert.ok(Math.abs(Number(copied.searchParams.get("t")) - place) < 0.1);

  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Flýtilyklar" });
  await sheet.getByText("Næsta efnisgrein").waitFor();
  await checkLooks(page, "transcript-shortcuts", someLooks);
  await page.getByRole("checkbox").uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator("h1").focus();
  await page.keyboard.press("l");
  assert.equal((await heard(page)).place, place, "they are put off");
});

test("the times are one stop of the keyboard, and Enter hears it from there", async () => {
  await using page = await openHeard();
  await page.locator("a.segment-time").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator('a.segment-time[tabindex="0"]').count(), 1);
  assert.equal((await heard(page)).place, 0, "choosing is not hearing");
  await page.keyboard.press("Enter");
  await untilHeard(page, ({ isPlaying, place }) => isPlaying && place >= startOf("Hvað"));
  assert.ok(!page.url().includes("t="), "the page stays");
});

test("what is heard stays in sight, until the user scrolls away from it", async () => {
  await using page = await openHeard();
  // So low that the end of the text is out of sight.
  await page.setViewportSize({ width: 1280, height: 420 });
  const isInSight = () =>
    page.evaluate<boolean>(`(() => {
      const [{ startContainer, startOffset, endOffset }] = CSS.highlights.get("hlust-now");
      const range = document.createRange();
      range.setStart(startContainer, startOffset);
      range.setEnd(startContainer, endOffset);
      const { top, bottom } = range.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight - document.querySelector(".player").offsetHeight;
    })()`);
  await page.keyboard.press("8");
  await untilHeard(page, ({ place }) => place > 20);
  await until(isInSight);
  const follow = page.getByRole("button", { name: "Fylgja" });
  await page.keyboard.press("4");
  await page.keyboard.press("k");
  await untilHeard(page, ({ isPlaying }) => isPlaying);
  await until(isInSight);
  assert.equal(await follow.count(), 0);
  await page.mouse.wheel(0, 5_000);
  await follow.waitFor();
  await page.evaluate("scrollTo(0, 0)");
  await follow.click();
  await follow.waitFor({ state: "detached" });
  await until(isInSight);
});

test("it goes on where the user stopped, or where the address says", async () => {
  await using page = await openHeard();
  await page.keyboard.press("5");
  const { place } = await untilHeard(page, ({ place }) => place > 5);
  await page.goto(`${pages.service.address}/console/transcripts`);
  await page.goto(`${pages.service.address}/console/${name}`);
  await untilHeard(page, near(Math.round(place * 10) / 10));
  await page.goto(`${pages.service.address}/console/${name}?t=8.5`);
  await untilHeard(page, near(8.5));
  assert.equal((await heard(page)).word, wordAt(8.5));
});

test("a URL that has expired is replaced, and it goes on at the same place; that of the wave too", async () => {
  await using page = await openHeard(`/${name}?t=12`);
  const refused = new Set<string>();
  let reads = 0;
  // What the service says to an old signature, until the transcript is read anew.
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
  // Both may ask for it at once, and then it is read once.
  await page.route(`**/console/api/v1alpha1/${name}`, async (route) => {
    reads += 1;
    if (reads > 1) await until(async () => refused.size === 2);
    await route.continue();
  });
  await page.reload();
  await page.getByRole("button", { name: "Spila" }).click();
  await untilHeard(page, ({ isPlaying, place }) => isPlaying && place > 12 && place < 20);
  await page.locator("path.wave-played").waitFor();
  assert.equal(refused.size, 2);
});

test("200,000 words are found, gone through and lit without more of the page changing", async () => {
  const { service } = pages;
  const segments = longSegments(200_000).map((segment, at) => ({
    ...segment,
    // The last paragraph has a word that no other has.
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
  await using page = await openHeard(`/${long}?t=5`);
  await page.getByText("Skeiðará").waitFor({ state: "attached" });
  assert.equal(await page.evaluate("document.querySelectorAll('.segment').length"), 10_000);
  // Far parts of it are not laid out.
  assert.ok(
    await page.evaluate<boolean>(
      "document.querySelector('.words-part:last-child .segment').checkVisibility({ contentVisibilityAuto: true }) === false",
    ),
  );
  assert.ok(await page.evaluate<boolean>('window.find("Skeiðará")'), "the browser finds it");
  await page.evaluate(`
    globalThis.changes = 0;
    new MutationObserver((list) => { changes += list.length; }).observe(
      document.querySelector(".words"), { subtree: true, childList: true, attributes: true, characterData: true })`);
  const { word } = await heard(page);
  await page.locator("h1").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await untilHeard(page, (now) => now.word !== word || now.place > 5);
  assert.equal(await page.evaluate("changes"), 0);
});

test("a browser that cannot paint over text has a span under the word", async () => {
  await using page = await openHeard();
  await page.addInitScript("delete globalThis.Highlight");
  await page.reload();
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const at = await pointOf(page, "rennslið");
  await page.mouse.click(at.x, at.y);
  const box = await page.locator(".words-wash").boundingBox();
  assert.ok(box && Math.abs(box.x + box.width / 2 - at.x) < 3, JSON.stringify({ box, at }));
  assert.ok(Math.abs(box.y + box.height / 2 - at.y) < 3);
});
