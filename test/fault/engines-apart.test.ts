// Engine nodes that are killed, stopped, cut off, slow and drained during live streams: clients
// notice only a delay.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { until } from "../fixtures/until.ts";
import { type ApartNodes, type EngineProcess, nodesOf, openApartNodes } from "./apart-nodes.ts";
import { chunksOf, type FinalDelay, quietFinals, stream } from "./apart-streams.ts";

/**
 * `npm run test:long` runs three engine nodes, two API nodes and forty streams, and also cuts a
 * line in both directions at once: each direction alone is always cut.
 */
const isLong = process.env["ENGINES_APART"] === "all";
const [engineCount, apiCount, streamCount] = isLong ? [3, 2, 40] : [2, 1, 8];

let nodes: ApartNodes;
before(async () => {
  nodes = await openApartNodes({ engines: engineCount, apis: apiCount });
});
after(() => nodes[Symbol.asyncDispose](), { timeout: 120_000 * cpuSlowness });

const untilNode: ApartNodes["untilNode"] = async (at, isSo) => await nodes.untilNode(at, isSo);

const bothCut = "the line is cut in both directions";

/** The events, in turn. Each leaves all engine nodes as they were. */
const events: readonly [
  what: string,
  happen: (engine: EngineProcess, at: number) => Promise<void>,
][] = [
  [
    "an engine node is killed (kill -9)",
    async (engine, at) => {
      await engine.service.crash();
      await untilNode(at, ({ connected }) => !connected);
      await engine.start();
    },
  ],
  [
    "an engine node is stopped (SIGSTOP)",
    async (engine, at) => {
      process.kill(engine.service.pid, "SIGSTOP");
      await untilNode(at, ({ connected }) => !connected);
      process.kill(engine.service.pid, "SIGCONT");
    },
  ],
  [
    bothCut,
    async ({ line }, at) => {
      line.set({ isCutOut: true, isCutBack: true });
      await untilNode(at, ({ connected }) => !connected);
      line.set({});
    },
  ],
  [
    "the line to the engine node is cut",
    async ({ line }, at) => {
      line.set({ isCutOut: true });
      await untilNode(at, ({ connected }) => !connected);
      line.set({});
    },
  ],
  [
    "the line from the engine node is cut",
    async ({ line }, at) => {
      line.set({ isCutBack: true });
      await untilNode(at, ({ connected }) => !connected);
      line.set({});
    },
  ],
  [
    "the line is slow",
    async ({ line }, at) => {
      line.set({ delayMs: 300 });
      await untilNode(at, ({ delayMs }) => delayMs >= 300);
      line.set({});
    },
  ],
  [
    "an engine node is drained (SIGTERM)",
    async (engine, at) => {
      assert.equal(await engine.service.stop(), 0, engine.service.output().errors);
      assert.match(engine.service.output().errors, /engine.client_left/);
      await untilNode(at, ({ connected }) => !connected);
      await engine.start();
    },
  ],
];

test("what happens to engine nodes costs live streams a delay, and never a word", async (context) => {
  await nodes.untilAllBack();
  const ended = new AbortController();
  const recordings = Array.from({ length: streamCount }, (_, index) => chunksOf(index));
  const apiOf = (index: number) => nodes.apis[index % apiCount] ?? assert.fail();
  const delays: FinalDelay[] = [];
  const longestMs = (sinceMs: number) =>
    Math.round(
      Math.max(0, ...delays.filter(({ atMs }) => atMs >= sinceMs).map((each) => each.delayMs)),
    );
  const runningMs = performance.now();
  const running = Promise.all(
    recordings.map((chunks, index) => stream(apiOf(index).service, chunks, ended.signal, delays)),
  );
  running.catch(() => {});
  const hasSessions = async () => {
    const states = await nodesOf(apiOf(0));
    return states.reduce((sum, { sessions }) => sum + sessions, 0) >= streamCount / apiCount;
  };
  try {
    await until(hasSessions);
    await until(async () => Promise.resolve(delays.length >= 3 * streamCount), 60_000);
    context.diagnostic(`before all events: the longest delay was ${longestMs(runningMs)} ms`);
    for (const [turn, [what, happen]] of events.entries()) {
      if (!isLong && what === bothCut) continue;
      const startMs = performance.now();
      await until(hasSessions);
      // The engine node with the most streams is the one whose loss matters.
      const states = await nodesOf(apiOf(turn));
      const most = Math.max(...states.map(({ sessions }) => sessions));
      const at = states.findIndex(({ sessions }) => sessions === most);
      assert.ok(most > 0, what);
      await happen(nodes.engines[at] ?? assert.fail(), at);
      await nodes.untilAllBack();
      const tookMs = Math.round(performance.now() - startMs);
      // The finals that were delayed have come when each stream has had one more.
      const wanted = delays.length + streamCount;
      await until(async () => Promise.resolve(delays.length >= wanted), 60_000);
      context.diagnostic(
        `${what}: it had ${most} streams, and was back after ${tookMs} ms; the longest delay of a final result was ${longestMs(startMs)} ms`,
      );
    }
  } finally {
    // Also after a failure: the streams would go on for ten minutes.
    ended.abort();
  }
  const found = await running;
  const quiet = await Promise.all(
    found.map(({ sent }, index) => quietFinals(apiOf(index).service, index, sent)),
  );
  for (const [index, { finals }] of found.entries()) {
    assert.ok(finals.length > 5, `stream ${index}`);
    assert.deepEqual(finals, quiet[index], `stream ${index}`);
  }
});
