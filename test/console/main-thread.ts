import type { CDPSession, Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** When it began, the time that passed in it, and its CPU time, in microseconds. */
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const categories = ["toplevel", "blink", "blink.user_timing", "__metadata"];
const taskName = "ThreadControllerImpl::RunTask";
/**
 * The end of an answer. For developer tools, such as Playwright, Chromium decodes all of it here,
 * which takes 28 ms for 13 MB; without tools 0.1 ms. So this is not counted.
 */
const answerName = "ResponseBodyLoader::DidFinishLoadingBody";

/**
 * Returns the longest task of a page's main thread while something is done, in ms of CPU time; with
 * `mark`, of those that begin after the page has set this mark (performance.mark()).
 */
export async function longestTaskMs(
  page: Page,
  act: () => Promise<void>,
  mark?: string,
): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error("the page has no browser");
  await browser.startTracing(page, { categories });
  await act();
  const trace: { readonly traceEvents: readonly TraceEvent[] } = JSON.parse(
    (await browser.stopTracing()).toString("utf8"),
  );
  const main = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const marked = trace.traceEvents.find(({ name }) => name === mark);
  if (mark !== undefined && !marked) throw new Error(`the page has not set the mark ${mark}`);
  const from = marked?.ts ?? 0;
  const own = trace.traceEvents.filter(({ pid, tid }) => main.has(`${pid} ${tid}`));
  const tasks = own.filter(({ name, ts }) => name === taskName && ts >= from);
  if (tasks.length === 0) throw new Error("the trace has no tasks of the page");
  const answers = own.filter(({ name }) => name === answerName);
  const usOf = (task: TraceEvent): number =>
    answers
      .filter((answer) => isWithin(answer, task))
      .reduce((us, answer) => us - cpuUsOf(answer), cpuUsOf(task));
  return tasks.reduce((longest, task) => Math.max(longest, usOf(task) / 1_000), 0);
}

function isWithin(one: TraceEvent, { pid, tid, ts, dur = 0 }: TraceEvent): boolean {
  return one.pid === pid && one.tid === tid && one.ts >= ts && one.ts <= ts + dur;
}

/**
 * Returns the CPU time in microseconds. The clock of a thread can jump by more than 100 ms in a
 * task of 2 ms, on virtual machines that other programs use; CPU time is at most the time that
 * passed.
 */
function cpuUsOf({ tdur = 0, dur = tdur }: TraceEvent): number {
  return Math.min(tdur, dur);
}

/** Returns the CPU time of a page's main thread in ms while something is done. */
export async function mainThreadMs(
  devtools: CDPSession,
  act: () => Promise<void>,
): Promise<number> {
  const taken = async (): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
  };
  const before = await taken();
  await act();
  return (await taken()) - before;
}
