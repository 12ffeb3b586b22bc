import type { CDPSession, Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** When it began, and its CPU time, in microseconds. */
  readonly ts: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const categories = ["toplevel", "blink.user_timing", "__metadata"];
const taskName = "ThreadControllerImpl::RunTask";

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
  const tasks = trace.traceEvents
    .filter(({ name, pid, tid }) => name === taskName && main.has(`${pid} ${tid}`))
    .filter(({ ts }) => ts >= from)
    .map(({ tdur = 0 }) => tdur / 1_000);
  if (tasks.length === 0) throw new Error("the trace has no tasks of the page");
  return Math.max(...tasks);
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
