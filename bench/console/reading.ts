import type { CDPSession, Page } from "playwright-core";
import { openTestPages, type TestPages } from "../../test/console/open-test-pages.ts";
import {
  createTranscript,
  interview,
  interviewMetadata,
} from "../../test/console/spoken-transcript.ts";
import { joined } from "../../test/fixtures/flite.ts";
import { wavOf } from "../../test/fixtures/jobs-fixture.ts";
import { longSegments } from "../../test/fixtures/long-transcript.ts";

/** A measured figure and its limit. */
export interface PageFigure {
  readonly name: string;
  readonly ms: number;
  readonly msMax: number;
  readonly note: string;
}

const openings = 7;
/**
 * The limits for 30,000 words. `openLongMs` is the limit for 200,000 words, a wait that users
 * accept. Rendering all of the text may take three times as long as rendering the first words,
 * since users can already read.
 */
const limits = { openMs: 1_000, openLongMs: 3_000, tickMs: 4 };

/**
 * Measures, in the page, how long a long transcript takes to open, and how much highlighting the
 * current word costs.
 */
export async function runReading({ seconds }: { readonly seconds: number }): Promise<PageFigure[]> {
  await using pages = await openTestPages({}, [], "full");
  const figures: PageFigure[] = [];
  for (const words of [30_000, 200_000]) {
    const name = await createLong(pages, words, seconds);
    const openMs = words > 30_000 ? limits.openLongMs : limits.openMs;
    figures.push(...(await open(pages, name, words, openMs)));
    figures.push(...(await play(pages, name, words, seconds)));
  }
  return figures;
}

/** A segment of a long transcript. */
export type LongSegment = ReturnType<typeof longSegments>[number] & { readonly speakerId?: string };

/**
 * Creates a transcript whose media plays the words in the middle of the text. Half of the text
 * precedes these words. Every tenth word is unclear. `change` changes segments, by index.
 */
export async function createLong(
  pages: TestPages,
  words: number,
  seconds: number,
  change: (segment: LongSegment, at: number) => LongSegment = (segment) => segment,
): Promise<string> {
  const { samples, seconds: spoken } = interview();
  const times = Math.ceil((seconds + 10) / spoken);
  const media = Uint8Array.from(wavOf(joined(...Array.from({ length: times }, () => samples))));
  const middle = words / 4;
  const shift = (duration: string): string =>
    `${Math.max(0, Number.parseFloat(duration) - middle)}s`;
  const segments = longSegments(words)
    .map(change)
    .map((segment) => ({
      ...segment,
      startTime: shift(segment.startTime),
      endTime: shift(segment.endTime),
      words: segment.words.map(({ startTime, endTime, word }, at) => ({
        startTime: shift(startTime),
        endTime: shift(endTime),
        word,
        ...(at % 10 === 3 && { confidence: 0.25 }),
      })),
    }));
  const metadata = { ...interviewMetadata, speakers: {} };
  return await createTranscript(pages.service, { metadata, segments }, media);
}

/** Records when the first words are painted, and when all of the text is rendered. */
const watch = (segments: number) => `
  globalThis.opened = {};
  const check = () => {
    const count = document.querySelectorAll(".segment").length;
    if (count > 0 && opened.painted === undefined) {
      opened.painted = 0;
      // The callback runs before a frame is painted, so its timer fires after the next frame has
      // begun.
      requestAnimationFrame(() => setTimeout(() => { opened.painted = performance.now(); }));
    }
    if (count >= ${segments}) opened.whole = performance.now();
    else requestAnimationFrame(check);
  };
  requestAnimationFrame(check);`;

async function open(
  pages: TestPages,
  name: string,
  words: number,
  openMs: number,
): Promise<PageFigure[]> {
  const { service } = pages;
  const painted: number[] = [];
  const whole: number[] = [];
  const cold: number[] = [];
  const page = await pages.open("/nowhere");
  await page.addInitScript(watch(words / 20));
  for (let at = 0; at < openings; at++) {
    await page.goto(`${service.address}/console/${name}`);
    const opened = await openedOf(page);
    painted.push(opened.painted);
    whole.push(opened.whole);
  }
  await page.context().close();
  for (let at = 0; at < 3; at++) {
    // A browser that is signed in but has cached nothing.
    const fresh = await pages.open("/nowhere");
    await fresh.addInitScript(watch(words / 20));
    const session = await fresh.context().newCDPSession(fresh);
    await session.send("Network.clearBrowserCache");
    await fresh.goto(`${service.address}/console/${name}`);
    cold.push((await openedOf(fresh)).painted);
    await fresh.context().close();
  }
  const note = (times: readonly number[]) => times.map((ms) => ms.toFixed(0)).join(", ");
  const title = `${words} words`;
  return [
    {
      name: `${title}: opened, text painted`,
      ms: quantile(painted, 0.5),
      msMax: openMs,
      note: note(painted),
    },
    {
      name: `${title}: all of the text rendered`,
      ms: quantile(whole, 0.5),
      msMax: openMs * 3,
      note: note(whole),
    },
    {
      name: `${title}: the same with an empty cache`,
      ms: quantile(cold, 0.5),
      msMax: openMs,
      note: note(cold),
    },
  ];
}

async function openedOf(page: Page): Promise<{ painted: number; whole: number }> {
  await waitInside(page, "opened.painted > 0 && opened.whole > 0");
  return await page.evaluate("opened");
}

async function play(
  pages: TestPages,
  name: string,
  words: number,
  seconds: number,
): Promise<PageFigure[]> {
  const page = await pages.open(`/${name}`);
  await page
    .locator(".segment")
    .nth(words / 20 - 1)
    .waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Spila" }).click();
  await waitInside(page, "document.querySelector('video').currentTime > 2");
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ["devtools.timeline", "toplevel", "cc"] });
  await waitInside(page, `document.querySelector('video').currentTime > ${2 + seconds}`);
  const trace = parseTrace((await browser?.stopTracing())?.toString() ?? "");
  const scripts = tookMs(trace, "FireAnimationFrame");
  const frames = tookMs(trace, "ProxyMain::BeginMainFrame");
  const longTasks = tookMs(trace, "ThreadControllerImpl::RunTask").filter((ms) => ms > 50);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize = 0, Nodes = 0 } = await metricsOf(session);
  await page.context().close();
  const msMax = limits.tickMs;
  const title = `${words} words, a tick`;
  const heap = `heap ${(JSHeapUsedSize / 1e6).toFixed(0)} MB, ${Nodes} nodes`;
  const ticks = `${scripts.length} ticks`;
  const longest = (times: readonly number[]) => `longest ${quantile(times, 1).toFixed(1)}`;
  return [
    { name: `${title}: script, p50`, ms: quantile(scripts, 0.5), msMax, note: ticks },
    { name: `${title}: script, p99`, ms: quantile(scripts, 0.99), msMax, note: longest(scripts) },
    {
      name: `${title}: script, style, layout and paint, p50`,
      ms: quantile(frames, 0.5),
      msMax,
      note: `${longest(frames)}, ${longTasks.length} tasks over 50 ms; ${heap}`,
    },
  ];
}

/**
 * The fields of an event in Chromium's trace that are used here. `tdur` is the CPU time in
 * microseconds.
 */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
}

/** Returns the events of the page's own thread. */
function parseTrace(json: string): readonly TraceEvent[] {
  const { traceEvents }: { readonly traceEvents: readonly TraceEvent[] } = JSON.parse(json);
  const own = traceEvents.find((event) => event.name === "FireAnimationFrame");
  return traceEvents.filter(({ pid, tid }) => pid === own?.pid && tid === own.tid);
}

/** Returns CPU times, which depend little on the load of the machine. */
function tookMs(trace: readonly TraceEvent[], name: string): number[] {
  const times = trace.flatMap((event) => (event.name === name ? [event.tdur ?? 0] : []));
  return times.filter((us) => us > 0).map((us) => us / 1000);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/**
 * Waits for a condition in the page through the DevTools protocol, because the page's policy allows
 * no eval.
 */
export async function waitInside(page: Page, condition: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const timer = setInterval(() => {
      if (!(${condition})) return;
      clearInterval(timer);
      done();
    }, 50);
  })`);
}

export async function metricsOf(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}
