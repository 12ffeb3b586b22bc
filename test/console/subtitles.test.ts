// The text of a transcript as subtitles, next to its video.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { readSubtitles } from "../../src/transcripts/subtitles/read-subtitles.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import { filmOf } from "./film.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages();
  const metadata = { ...interviewMetadata, fileType: "VIDEO" };
  name = await createTranscript(
    pages.service,
    { metadata, segments: talk.segments },
    filmOf(talk.samples),
  );
  await until(async () => {
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
    return json.metadata.recordingDuration !== null;
  });
});
after(() => pages[Symbol.asyncDispose]());

/** Returns the texts of the subtitles on the page. */
async function shownCues(page: Page): Promise<string[]> {
  await page.locator(".cue").first().waitFor();
  return await page.evaluate(`[...document.querySelectorAll(".cue p")].map((p) => p.textContent)`);
}

/** Returns the texts of the subtitles that the service exports. */
async function exportedCues(of: string) {
  const answer = await fetch(`${pages.service.address}/v1alpha1/${of}:export?format=SRT`, {
    headers: { authorization: `Bearer ${pages.service.key}` },
  });
  return readSubtitles(await answer.text());
}

const textOf = (spans: readonly { readonly text: string }[]) =>
  spans.map(({ text }) => text).join("");

async function openSubtitles(of = name): Promise<Page> {
  const page = await pages.open(`/${of}?view=subtitles`);
  await page.locator(".cue").first().waitFor();
  return page;
}

test("the page shows the subtitles that the service exports, with their times and speakers", async () => {
  await using page = await pages.open(`/${name}`);
  const button = page.getByRole("button", { name: "Skjátextar" });
  await button.click();
  const exported = await exportedCues(name);
  const shown = await shownCues(page);
  assert.deepEqual(
    shown.map((text) => text.replaceAll("\n", " ")),
    exported.map(({ spans }) => textOf(spans).replaceAll("\n", " ").trim()),
  );
  assert.ok(shown.some((text) => text.includes("\n")));
  const starts = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".cue")].map(({ dataset }) => dataset.start)`,
  );
  assert.deepEqual(
    starts.map(Number),
    exported.map(({ startMs }) => startMs),
  );
  assert.deepEqual(await page.locator(".cue-speaker").allTextContents(), [
    "Fréttamaður",
    "Jarðfræðingur",
    "Fréttamaður",
    "Jarðfræðingur",
  ]);
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  assert.equal(new URL(page.url()).searchParams.get("view"), "subtitles");
  await page.reload();
  assert.deepEqual(await shownCues(page), shown);
  await checkLooks(page, "transcript-subtitles");
  const back = page.getByRole("button", { name: /^(Skjátextar|Subtitles)$/ });
  await back.click();
  await page.locator(".segment").first().waitFor();
  assert.equal(new URL(page.url()).searchParams.get("view"), null);
});

test("the current subtitle is marked and shown in the picture, and a click or Enter goes to one", async () => {
  await using page = await openSubtitles();
  await until(() => page.evaluate<boolean>("document.querySelector('video').readyState > 0"));
  const exported = await exportedCues(name);
  const marked = () => page.locator(".cue[data-now] p").allTextContents();
  const caption = () => page.locator(".picture-caption").textContent();
  const texts = await shownCues(page);
  await page.locator(".cue p").nth(3).click();
  await until(async () => (await caption()) === texts[3]);
  assert.deepEqual(await marked(), [texts[3]]);
  const place = () => page.evaluate<number>("document.querySelector('video').currentTime");
  assert.ok(Math.abs((await place()) - (exported[3]?.startMs ?? 0) / 1000) < 0.05);
  await page.locator("a.cue-time").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator('a.cue-time[tabindex="0"]').count(), 1);
  assert.ok(Math.abs((await place()) - (exported[3]?.startMs ?? 0) / 1000) < 0.05);
  await page.keyboard.press("Enter");
  await until(() => page.evaluate<boolean>("!document.querySelector('video').paused"));
  const seen = new Set<string>();
  await until(async () => {
    const now = await caption();
    if (now !== null && now !== "") seen.add(now);
    return seen.size > 1;
  });
  assert.deepEqual([...seen].slice(0, 2), texts.slice(2, 4));
  // The caption is part of the subtitles only.
  await page.getByRole("button", { name: "Skjátextar" }).click();
  await page.locator(".segment").first().waitFor();
  assert.equal(await caption(), "");
});

/** A text that is spoken too fast for a reader, between two that are not. */
function hurried() {
  const segment = (text: string, start: number, seconds: number) => {
    const words = text.split(/(?<=\s)/);
    const times = (at: number) => `${(start + (seconds * at) / words.length).toFixed(3)}s`;
    return {
      startTime: times(0),
      endTime: times(words.length),
      words: words.map((word, at) => ({ startTime: times(at), endTime: times(at + 1), word })),
    };
  };
  return [
    segment("Þetta er sagt í ró og næði.", 0, 3),
    segment("Þetta er sagt svo hratt að enginn getur lesið það allt saman.", 5, 1.5),
    segment("Já.", 6.5, 0.3),
    segment("Og nú er aftur talað rólega.", 6.9, 4),
  ];
}

test("subtitles that break a rule say which one and by how much, and buttons step through them", async () => {
  const metadata = { ...interviewMetadata, subject: "Hratt", languageCode: "is-IS" };
  const fast = await createTranscript(pages.service, { metadata, segments: hurried() });
  await using page = await openSubtitles(fast);
  const broken = page.locator(".cue-broken");
  const texts = await broken.allTextContents();
  const exported = await exportedCues(fast);
  for (const [at, text] of texts.entries()) assert.match(text, /^\d/, `${at}`);
  const about = await page.evaluate<string[][]>(
    `[...document.querySelectorAll(".cue:has(.cue-broken)")].map((cue) => [
      cue.querySelector("p").textContent,
      cue.querySelector(".cue-broken").textContent,
    ])`,
  );
  const found = exported.flatMap(({ startMs, endMs, spans }) => {
    const text = textOf(spans).trim();
    const ms = endMs - startMs;
    const rules = [
      ...(ms < 1000 ? [/\d,\d s, minnst 1 s/] : []),
      ...((text.length * 1000) / ms > 17 ? [/stafir? á sekúndu, mest 17/] : []),
    ];
    return rules.length > 0 ? [{ text: text.replaceAll("\n", " "), rules }] : [];
  });
  assert.ok(found.length >= 2);
  assert.deepEqual(
    about.map(([text]) => text?.replaceAll("\n", " ")),
    found.map(({ text }) => text),
  );
  for (const [at, { rules }] of found.entries()) {
    for (const rule of rules) assert.match(about[at]?.[1] ?? "", rule);
  }
  await page.getByText(`${found.length} brjóta reglu.`).waitFor();
  const described = () =>
    page.evaluate<string>(
      `document.getElementById(document.activeElement.getAttribute("aria-describedby"))?.textContent`,
    );
  const next = page.getByRole("button", { name: "Næsta regluvik" });
  const seen: string[] = [];
  for (let step = 0; step <= found.length; step += 1) {
    await next.click();
    seen.push(await described());
  }
  assert.deepEqual(seen, [...texts, texts[0]]);
  await page.getByRole("button", { name: "Fyrra regluvik" }).click();
  assert.equal(await described(), texts.at(-1));
  await checkLooks(page, "transcript-subtitles-broken");
});

test("text and subtitles show the same place, in eight hours too", async () => {
  const metadata = { ...interviewMetadata, subject: "Átta stundir" };
  const long = await createTranscript(pages.service, { metadata, segments: longSegments(72_000) });
  await using page = await pages.open(`/${long}`);
  await page.locator(".words-part").nth(50).waitFor({ state: "attached" });
  await page.evaluate(`document.querySelectorAll(".segment")[1800].scrollIntoView()`);
  const topTime = (selector: string) =>
    page.evaluate<string>(`(() => {
      const all = [...document.querySelectorAll("${selector}")];
      return all.find((one) => one.getBoundingClientRect().top >= 0).textContent;
    })()`);
  const secondsOf = (clock: string) =>
    clock.split(":").reduce((seconds, part) => 60 * seconds + Number.parseFloat(part), 0);
  const before = secondsOf(await topTime(".segment-time"));
  assert.ok(before > 17_000);
  const button = page.getByRole("button", { name: "Skjátextar" });
  await button.evaluate((element: { click(): void }) => element.click());
  await page.locator(".cue").first().waitFor({ state: "attached" });
  await until(async () => Math.abs(secondsOf(await topTime(".cue-time")) - before) < 30);
  const exported = await exportedCues(long);
  await until(async () => (await page.locator(".cue").count()) === exported.length);
  await page.evaluate("window.scrollBy({ top: 20_000, behavior: 'instant' })");
  const later = secondsOf(await topTime(".cue-time"));
  assert.ok(later > before + 60);
  await button.evaluate((element: { click(): void }) => element.click());
  await page.locator(".segment").first().waitFor({ state: "attached" });
  await until(async () => Math.abs(secondsOf(await topTime(".segment-time")) - later) < 60);
});
