// Long transcripts are edited without delay, in Chromium and the real service. The limits are three
// times those of a quiet machine (bench/console/editing.ts), in CPU time of the page's main thread.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { joined } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import type { TestService } from "../spec/service.ts";
import { versionsOf } from "./edited-transcript.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";
import { longestTaskMs, mainThreadMs } from "./main-thread.ts";
import { openTestPages } from "./open-test-pages.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const editedText = ".words-text[contenteditable=true]";
/** 8 hours of speech. */
const words = 72_000;
const limits = {
  openMs: 900,
  keyMs: 24,
  slowKeyMs: 48,
  changeMs: 96,
  replaceMs: 900,
  savingTaskMs: 48,
  heapMb: 450,
};

test("72,000 words are edited and saved without delay", async (t) => {
  await using pages = await openTestPages();
  const metadata = { ...interviewMetadata, speakers: {} };
  const segments = longSegments(words)
    .map((segment, at) => (at % 3 === 0 && at < 3_000 ? withTitle(segment) : segment))
    .map((segment, at) => ({ ...segment, speakerId: `speaker-${Math.floor(at / 4) % 3}` }));
  // It plays for longer than the keys take on a busy machine.
  const { samples, seconds } = interview();
  const media = wavOf(joined(...Array.from({ length: Math.ceil(120 / seconds) }, () => samples)));
  const name = await createTranscript(
    pages.service,
    { metadata, segments },
    Uint8Array.from(media),
  );
  const page = await pages.open(`/${name}`);
  await page
    .locator(".segment")
    .nth(words / 20 - 1)
    .waitFor({ state: "attached" });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const within = (title: string, ms: number, usualMsMax: number): void => {
    const msMax = usualMsMax * cpuSlowness;
    t.diagnostic(`${title}: ${ms.toFixed(1)} ms, at most ${msMax}`);
    assert.ok(ms <= msMax, `${title}: ${ms.toFixed(1)} ms, at most ${msMax}`);
  };
  const cost = (act: () => Promise<void>, settleMs = 150) =>
    mainThreadMs(devtools, async () => {
      await act();
      await sleep(settleMs);
    });
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
  await sleep(500);
  const open = async (): Promise<void> => {
    await page.keyboard.press("e");
    await page.locator(editedText).waitFor();
  };
  within("from reading to editing", await cost(open, 500), limits.openMs);
  for (const place of ["middle", "End", "Home"] as const) {
    if (place !== "middle") await page.keyboard.press(`Control+${place}`);
    await sleep(500);
    const keys: number[] = [];
    for (let at = 0; at < 20; at++) keys.push(await cost(() => page.keyboard.press("a"), 60));
    keys.sort((one, other) => one - other);
    within(`a key at ${place}, p50`, keys[10] ?? 0, limits.keyMs);
    within(`a key at ${place}, p95`, keys[18] ?? 0, limits.slowKeyMs);
  }
  await page.getByRole("button", { name: "Spila" }).click();
  await page.locator(".segment[data-here] p").click();
  const played = await keysWhilePlaying(page, devtools);
  within("a key while it plays, p50", played[10] ?? Infinity, limits.keyMs);
  within("a key while it plays, p95", played[18] ?? Infinity, limits.slowKeyMs);
  await page.getByRole("button", { name: "Gera hlé" }).click();
  await page.locator(editedText).focus();
  const speakers: number[] = [];
  for (const digit of ["1", "2", "3"]) {
    await page.keyboard.press("F8");
    await page.locator(".palette").waitFor();
    speakers.push(await cost(() => page.keyboard.press(digit)));
    await page.locator(".palette").waitFor({ state: "detached" });
  }
  speakers.sort((one, other) => one - other);
  within("a speaker, set by a digit", speakers[1] ?? Infinity, limits.changeMs);
  await page.locator(editedText).focus();
  for (const key of ["Enter", "Backspace", "Control+z"]) {
    const costs: number[] = [];
    for (let at = 0; at < 3; at++) costs.push(await cost(() => page.keyboard.press(key)));
    within(key, costs.toSorted((one, other) => one - other)[1] ?? 0, limits.changeMs);
  }
  await page.keyboard.press("Control+h");
  const panel = page.getByRole("region", { name: "Leita og skipta út" });
  await panel.getByRole("textbox", { name: "Leita að" }).fill("hæstvirtur");
  await panel.getByText("1.000 staðir").waitFor();
  await panel.getByRole("textbox", { name: "Skipta út fyrir" }).fill("háttvirtur");
  const replace = panel.getByRole("button", { name: "Skipta út öllum merktum" });
  await replace.focus();
  within("1,000 hits replaced", await cost(() => replace.press("Enter"), 500), limits.replaceMs);
  const longestMs = await longestTaskMs(page, () => saved(page));
  within("the longest task while saving", longestMs, limits.savingTaskMs);
  assert.equal((await versionsOf(pages.service, name)).length, 2);
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("Jæja. ");
  const joinMs = await longestTaskMs(page, async () => {
    await changeLastWord(pages.service, name);
    await page.evaluate(joinNote);
  });
  within("the longest task while a version of others joins", joinMs, limits.savingTaskMs);
  await devtools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devtools.send("Performance.getMetrics");
  const heap = metrics.find((one) => one.name === "JSHeapUsedSize")?.value ?? Infinity;
  within("heap in MB", heap / 1e6, limits.heapMb);
  await page.context().close();
});

/**
 * Returns what letters cost while the recording plays, in order, without what the page does in the
 * same time anyway. Fails if a letter does not come into the text.
 */
async function keysWhilePlaying(page: Page, devtools: CDPSession): Promise<number[]> {
  const lengthOf = () =>
    page.evaluate<number>(
      `[...document.querySelectorAll(".segment p")].reduce((sum, p) => sum + p.textContent.length, 0)`,
    );
  const timed = async (act: () => Promise<void>, ms: number) => {
    const began = performance.now();
    const cpuMs = await mainThreadMs(devtools, async () => {
      await act();
      await sleep(ms);
    });
    return { cpuMs, wallMs: performance.now() - began };
  };
  await sleep(500);
  const idle = await timed(async () => {}, 1_000);
  const before = await lengthOf();
  const costs: number[] = [];
  for (let at = 0; at < 20; at++) {
    const { cpuMs, wallMs } = await timed(() => page.keyboard.press("a"), 60);
    costs.push(cpuMs - (idle.cpuMs / idle.wallMs) * wallMs);
  }
  assert.equal((await lengthOf()) - before, costs.length);
  assert.equal(await page.evaluate("document.querySelector('video').paused"), false);
  return costs.toSorted((one, other) => one - other);
}

/** Waits until a version of others is in the text. Searching only the bar over it costs little. */
const joinNote = `new Promise((done) => {
  const bar = document.querySelector(".edit-bar");
  const look = () => bar.querySelector(".note")?.textContent.includes("1 breytt") && done();
  new MutationObserver(look).observe(bar, { childList: true, subtree: true, characterData: true });
  look();
})`;

/** Another client saves a version with another word in the last segment. */
async function changeLastWord(service: TestService, name: string): Promise<void> {
  const { json } = await service.call("GET", `/v1alpha1/${name}`);
  const startIndex = json.segments.length - 1;
  const { words, ...segment } = json.segments[startIndex];
  const segments = [{ ...segment, words: [{ ...words[0], word: "annað " }, ...words.slice(1)] }];
  const { status } = await service.call(
    "POST",
    `/v1alpha1/${name}:modifySegments`,
    { changes: [{ startIndex, endIndex: startIndex + 1, segments }] },
    { "if-match": json.version.name },
  );
  assert.equal(status, 200);
}

/** Saves the text. The page is not asked, since searching such a page takes its main thread. */
async function saved(page: Page): Promise<void> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.url().endsWith(":modifySegments")),
    page.keyboard.press("Control+s"),
  ]);
  assert.equal(response.status(), 200);
  await sleep(1_500);
}

/** Returns a segment whose first word is a title. */
function withTitle(segment: ReturnType<typeof longSegments>[number]): typeof segment {
  const [first, ...others] = segment.words;
  return first ? { ...segment, words: [{ ...first, word: "hæstvirtur " }, ...others] } : segment;
}
