import { performance } from "node:perf_hooks";
import type { CDPSession, Page } from "playwright-core";
import { Distribution } from "../../src/cli/bench/distribution.ts";
import { openTestPages } from "../../test/console/open-test-pages.ts";
import { seedTranscripts } from "../../test/console/seed-transcripts.ts";
import type { PageFigure } from "./reading.ts";

const transcripts = 100_000;
/** The number of jumps to positions whose rows are no longer loaded. */
const jumps = 50;
/** Users do not notice a wait that is shorter than these limits. */
const limits = { stepMs: 100, jumpMs: 100 };

/** Scrolls a list of 100,000 transcripts to its end page by page, then to random positions. */
export async function runLists(): Promise<PageFigure[]> {
  await using pages = await openTestPages({ HLUST_ROLE: "api" }, [], "full");
  await seedTranscripts(pages.service.dataFolder, transcripts);
  const page = await pages.open("/transcripts");
  const tools = await page.context().newCDPSession(page);
  await page.locator(".transcript-row .title").first().waitFor();
  await page.evaluate(inPage);
  await printState("first page", page, tools);
  const began = performance.now();
  const steps = new Distribution();
  let count = 0;
  while (!(await page.evaluate<boolean>("atEnd()"))) {
    steps.add(await page.evaluate<number>("jump(document.body.scrollHeight)"));
    count += 1;
    if (count % 250 === 0) await printState(`after ${count} steps`, page, tools);
  }
  await printState(`at the end, ${seconds(began)} s and ${count} steps later`, page, tools);
  const height = await page.evaluate<number>("document.body.scrollHeight");
  const jumped = new Distribution();
  for (let at = 0; at < jumps; at += 1) {
    // Steps by the golden ratio spread evenly and never repeat a position.
    const top = Math.floor(((at * 0.618_034) % 1) * height);
    jumped.add(await page.evaluate<number>(`jump(${top})`));
  }
  await printState("after the jumps", page, tools);
  await page.waitForTimeout(40_000);
  await printState("40 s later", page, tools);
  return [
    figureOf("a step at the end of 100,000, to its rows", steps, limits.stepMs),
    figureOf("a jump to anywhere in them, to its rows", jumped, limits.jumpMs),
  ];
}

/**
 * Measures the time from a jump to the frame in which the row in the middle of the window shows its
 * text.
 */
const inPage = `{
  globalThis.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask" });
  globalThis.jump = (top) => new Promise((done) => {
    const began = performance.now();
    window.scrollTo(0, top);
    const check = () => {
      const row = document.elementFromPoint(700, 400)?.closest(".transcript-row");
      if (row?.querySelector(".title")) done(performance.now() - began);
      else requestAnimationFrame(check);
    };
    requestAnimationFrame(check);
  });
  globalThis.atEnd = () =>
    [...document.querySelectorAll(".transcript-row .title")].at(-1)?.textContent.endsWith(", 1");
}`;

function figureOf(name: string, times: Distribution, msMax: number): PageFigure {
  const { p50 = NaN, p99 = NaN, max = NaN } = times.summary() ?? {};
  return { name, ms: p50, msMax, note: `p99 ${p99.toFixed(0)} ms, longest ${max.toFixed(0)} ms` };
}

async function printState(when: string, page: Page, tools: CDPSession): Promise<void> {
  await tools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await tools.send("Runtime.getHeapUsage");
  const { elements, tasks } = await page.evaluate<{ elements: number; tasks: number[] }>(
    "({ elements: document.querySelectorAll('*').length, tasks: longTasks.splice(0) })",
  );
  const heap = (usedSize / 1e6).toFixed(1);
  const longest = Math.max(0, ...tasks).toFixed(0);
  console.log(
    `${when}: ${elements} elements, ${heap} MB of heap, ${tasks.length} tasks over 50 ms, the longest ${longest} ms`,
  );
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
