import type { Page } from "playwright-core";
import { openTestPages } from "../../test/console/open-test-pages.ts";
import { createTranscript, interviewMetadata } from "../../test/console/spoken-transcript.ts";
import { longSegments } from "../../test/fixtures/long-transcript.ts";
import type { PageFigure } from "./reading.ts";

const rounds = 5;
/** The limits for eight hours. `taskMs` is the time for which the page may not react to a key. */
const limits = { cutMs: 1_500, wholeMs: 3_000, taskMs: 100 };

/**
 * Measures, in the page, how long the subtitles of eight hours take to appear, and for how long the
 * page is blocked until the first of them are there.
 */
export async function runSubtitles(): Promise<PageFigure[]> {
  await using pages = await openTestPages({}, [], "full");
  const metadata = { ...interviewMetadata, speakers: {} };
  const segments = longSegments(72_000);
  const name = await createTranscript(pages.service, { metadata, segments });
  const opened: Opened[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const page = await pages.open(`/${name}`);
    await page.locator(".words-part").nth(112).waitFor({ state: "attached" });
    opened.push(await openSubtitles(page));
    await page.context().close();
  }
  const figure = (what: string, key: keyof Opened, msMax: number): PageFigure => {
    const all = opened.map((one) => one[key]).toSorted((one, other) => one - other);
    const ms = all[Math.floor(rounds / 2)] ?? Number.NaN;
    const note = all.map((one) => one.toFixed(0)).join(", ");
    return { name: `72,000 words as subtitles: ${what}`, ms, msMax, note };
  };
  return [
    figure("the first ones", "firstMs", limits.cutMs),
    figure("all of them", "wholeMs", limits.wholeMs),
    figure("longest task until the first", "taskMs", limits.taskMs),
  ];
}

interface Opened {
  readonly firstMs: number;
  readonly wholeMs: number;
  readonly taskMs: number;
}

/** Presses the button, and measures in the page until all subtitles are rendered. */
async function openSubtitles(page: Page): Promise<Opened> {
  return await page.evaluate(`new Promise((resolve) => {
    const button = [...document.querySelectorAll(".page-actions button")]
      .find(({ textContent }) => textContent === "Skjátextar");
    const began = performance.now();
    let [last, firstMs, taskMs] = [began, 0, 0];
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const now = performance.now();
      // The removal of the text's paragraphs comes before; what is measured is the cutting.
      const isCutting = document.querySelector(".cues") !== null && firstMs === 0;
      if (isCutting) taskMs = Math.max(taskMs, now - last);
      last = now;
      const found = document.getElementsByClassName("cue").length;
      if (found > 0 && firstMs === 0) firstMs = now - began;
      if (found > 64 * 3) return resolve({ firstMs, wholeMs: now - began, taskMs });
      channel.port2.postMessage(null);
    };
    button.click();
    channel.port2.postMessage(null);
  })`);
}
