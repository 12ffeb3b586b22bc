// Lines to engine nodes that are too narrow for the audio, or that end again and again: no word is
// lost, and neither connections nor memory nor log lines pile up.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { until } from "../fixtures/until.ts";
import { type ApartNodes, nodesOf, openApartNodes } from "./apart-nodes.ts";
import { chunksOf, type FinalDelay, quietFinals, stream } from "./apart-streams.ts";

const streamCount = 8;
/** A stream is 32 kB of samples a second. */
const audioBytesPerSecond = 32_000 * streamCount;
/** The memory that the node without models may take more than before. */
const memoryBytesMax = 200 << 20;

let nodes: ApartNodes;
before(async () => {
  nodes = await openApartNodes({ engines: 2, apis: 1, processes: 1 });
});
after(() => nodes[Symbol.asyncDispose](), { timeout: 120_000 * cpuSlowness });

const api = () => nodes.apis[0] ?? assert.fail();

/** Returns the most memory that the process of the node has had, in bytes. */
function memoryBytes(): number {
  const status = readFileSync(`/proc/${api().service.pid}/status`, "utf8");
  return 1_024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
}

/**
 * Lets streams run during the action, and compares their finals with those of a quiet run. Returns
 * the longest delay of a final.
 */
async function duringStreams(action: () => Promise<void>): Promise<number> {
  await nodes.untilAllBack();
  const ended = new AbortController();
  const delays: FinalDelay[] = [];
  const untilFinals = async (count: number) => {
    const wanted = delays.length + count * streamCount;
    await until(async () => Promise.resolve(delays.length >= wanted), 60_000);
  };
  const running = Promise.all(
    Array.from({ length: streamCount }, async (_, index) =>
      stream(api().service, chunksOf(index), ended.signal, delays),
    ),
  );
  running.catch(() => {});
  try {
    await untilFinals(2);
    await action();
    await nodes.untilAllBack();
    await untilFinals(2);
  } finally {
    ended.abort();
  }
  for (const [index, { finals, sent }] of (await running).entries()) {
    const quiet = await quietFinals(api().service, index, sent);
    assert.ok(finals.length > 5, `stream ${index}`);
    assert.deepEqual(finals, quiet, `stream ${index}`);
  }
  await until(async () => (await nodesOf(api())).every(({ sessions }) => sessions === 0));
  return Math.max(...delays.map(({ delayMs }) => delayMs));
}

/** Returns the lines that the node logs during the action. */
async function linesDuring(action: () => Promise<void>): Promise<readonly string[]> {
  const { length } = api().service.output().errors;
  await action();
  return api().service.output().errors.slice(length).split("\n").filter(Boolean);
}

test("lines that carry half of the audio, and then a tenth, cost a delay, and never a word", async (context) => {
  const memoryBefore = memoryBytes();
  const openedBefore = nodes.engines.map(({ line }) => line.opened);
  let delayMs = 0;
  const lines = await linesDuring(async () => {
    delayMs = await duringStreams(async () => {
      for (const share of [0.5, 0.1]) {
        for (const { line } of nodes.engines) {
          line.set({ bytesPerSecond: (share * audioBytesPerSecond) / nodes.engines.length });
        }
        await delay(8_000);
      }
      for (const { line } of nodes.engines) line.set({});
    });
  });
  const opened = nodes.engines.map(({ line }, at) => line.opened - (openedBefore[at] ?? 0));
  const addedBytes = memoryBytes() - memoryBefore;
  context.diagnostic(
    `${opened.join(" and ")} connections, ${lines.length} lines in the log, ${addedBytes >> 20} MiB more; the longest delay was ${Math.round(delayMs)} ms`,
  );
  assert.ok(delayMs > 4_000, `the line was not narrow: ${delayMs} ms`);
  assert.ok(lines.length <= 20, lines.join("\n"));
  assert.ok(addedBytes < memoryBytesMax, `${addedBytes} bytes`);
});

test("lines that end again and again cost a delay, and never a word", async (context) => {
  const memoryBefore = memoryBytes();
  const openedBefore = nodes.engines.map(({ line }) => line.opened);
  const lines = await linesDuring(async () => {
    await duringStreams(async () => {
      const endsAt = performance.now() + 20_000;
      for (let turn = 0; performance.now() < endsAt; turn += 1) {
        for (const { line } of nodes.engines) line.end();
        await delay(300 + 170 * (turn % 7));
      }
    });
  });
  const opened = nodes.engines.map(({ line }, at) => line.opened - (openedBefore[at] ?? 0));
  const addedBytes = memoryBytes() - memoryBefore;
  context.diagnostic(
    `${opened.join(" and ")} connections, ${lines.length} lines in the log, ${addedBytes >> 20} MiB more`,
  );
  // The delay doubles from 100 ms to 5 s, so that there are about ten attempts in 20 s.
  for (const count of opened) assert.ok(count >= 3 && count <= 20, `${count} connections`);
  const ofNodes = lines.filter((line) => line.includes('"event":"engine.'));
  const connections = opened.reduce((sum, count) => sum + count, 0);
  assert.ok(ofNodes.length <= 2 * connections, ofNodes.join("\n"));
  assert.ok(lines.length <= ofNodes.length + 20, lines.join("\n"));
  assert.ok(addedBytes < memoryBytesMax, `${addedBytes} bytes`);
});
