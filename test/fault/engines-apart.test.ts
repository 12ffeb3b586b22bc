// Engine nodes that are killed, stopped, cut off, slow and drained during live streams: clients
// notice only a delay.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EngineNodeState } from "../../src/engines/nodes/engine-node.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { joined, silence } from "../fixtures/flite.ts";
import { freePort } from "../fixtures/free-port.ts";
import { type LineProxy, openLineProxy } from "../fixtures/line-proxy.ts";
import { until } from "../fixtures/until.ts";
import {
  finalsOf,
  openStream,
  secondsOf,
  type StreamMessage,
  streamingConfig,
} from "../spec/stream.ts";
import { type ServiceProcess, startService } from "./process.ts";

/**
 * `npm run test:long` runs three engine nodes, two API nodes and forty streams, and also cuts a
 * line in both directions at once: each direction alone is always cut.
 */
const isLong = process.env["ENGINES_APART"] === "all";
const [engineCount, apiCount, streamCount] = isLong ? [3, 2, 40] : [2, 1, 8];
const credential = "the-credential-of-these-engine-nodes";
const chunkMs = 100;

/** An engine node, and the line to it. Its port does not change when it is restarted. */
interface Engine {
  service: ServiceProcess;
  readonly line: LineProxy;
  start(): Promise<void>;
}

const opened = new AsyncDisposableStack();
const engines: Engine[] = [];
const apis: ServiceProcess[] = [];

before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-engines-apart-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  for (let at = 0; at < engineCount; at += 1) engines.push(await openEngine(folder, at));
  const names = engines.map(({ line }) => `127.0.0.1:${line.port}`).join();
  for (let at = 0; at < apiCount; at += 1) {
    // Nodes with the same folder share its database.
    const api = await startService(join(folder, "api"), {
      HLUST_ROLE: "api",
      HLUST_ENGINES: names,
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_DRAIN_DELAY: "0",
    });
    apis.push(api);
    opened.use(api);
  }
});
after(() => opened.disposeAsync(), { timeout: 120_000 * cpuSlowness });

async function openEngine(folder: string, at: number): Promise<Engine> {
  const port = await freePort();
  const start = async () =>
    await startService(join(folder, `engine${at}`), {
      HLUST_ROLE: "engine",
      HLUST_ENGINE: "scripted",
      HLUST_ENGINE_PROCESSES: "2",
      HLUST_ENGINE_LISTEN: `127.0.0.1:${port}`,
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_DRAIN: "30",
    });
  const engine: Engine = {
    service: await start(),
    line: opened.use(await openLineProxy(port)),
    async start() {
      engine.service = await start();
    },
  };
  opened.defer(async () => void (await engine.service.stop()));
  return engine;
}

/** Returns how an API node sees the engine nodes, in the order of its settings. */
async function nodesOf(api: ServiceProcess): Promise<readonly EngineNodeState[]> {
  const { parts } = JSON.parse(await (await fetch(`${api.address}/readyz`)).text());
  return parts.engines.nodes;
}

async function untilNode(at: number, isSo: (node: EngineNodeState) => boolean): Promise<void> {
  await until(async () => {
    const all = await Promise.all(apis.map(nodesOf));
    return all.every((nodes) => nodes[at] !== undefined && isSo(nodes[at]));
  }, 60_000);
}

const isBack = ({ connected, processes, leaving }: EngineNodeState) =>
  connected && processes === 2 && !leaving;

/** When a final result arrived, and how long after the end of its last word was sent. */
interface FinalDelay {
  readonly atMs: number;
  readonly delayMs: number;
}

/** Sends chunks in real time until the signal aborts, and returns the finals and the chunks. */
async function stream(
  api: ServiceProcess,
  chunks: readonly Int16Array[],
  ended: AbortSignal,
  delays: FinalDelay[] = [],
) {
  const onMessage = (message: StreamMessage) => {
    const atMs = performance.now();
    for (const { words = [] } of finalsOf([message])) {
      const wordMs = 1_000 * secondsOf(words.at(-1)?.endTime ?? "");
      delays.push({ atMs, delayMs: atMs - (startMs + wordMs) });
    }
  };
  let startMs = performance.now();
  const open = await openStream(api.address, { token: api.key, onMessage });
  open.send(streamingConfig({ enableWordTimeOffsets: true }));
  startMs = performance.now();
  let sent = 0;
  for (const chunk of chunks) {
    if (ended.aborted) break;
    const dueMs = startMs + sent * chunkMs - performance.now();
    if (dueMs > 1) await delay(dueMs);
    open.sendAudio(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), 3_200);
    sent += 1;
  }
  open.send({ audioContent: "" });
  assert.equal(await open.closed, 1000, JSON.stringify(open.messages.at(-1)));
  return { finals: finalsOf(open.messages), sent };
}

/** Returns the chunks of ten minutes of speech and pauses, which differ from stream to stream. */
function chunksOf(index: number): readonly Int16Array[] {
  const parts = Array.from({ length: 300 }, (_, part) =>
    joined(speech(700 + 130 * ((index + part) % 9)), silence(300 + 110 * ((part * 3 + index) % 7))),
  );
  const samples = joined(...parts);
  const length = chunkMs * 16;
  const count = Math.floor(samples.length / length);
  return Array.from({ length: count }, (_, at) => samples.subarray(at * length, (at + 1) * length));
}

const bothCut = "the line is cut in both directions";

/** The events, in turn. Each leaves all engine nodes as they were. */
const events: readonly [what: string, happen: (engine: Engine, at: number) => Promise<void>][] = [
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
  for (const at of engines.keys()) await untilNode(at, isBack);
  const ended = new AbortController();
  const recordings = Array.from({ length: streamCount }, (_, index) => chunksOf(index));
  const apiOf = (index: number) => apis[index % apiCount] ?? assert.fail();
  const delays: FinalDelay[] = [];
  const longestMs = (sinceMs: number) =>
    Math.round(
      Math.max(0, ...delays.filter(({ atMs }) => atMs >= sinceMs).map((each) => each.delayMs)),
    );
  const runningMs = performance.now();
  const running = Promise.all(
    recordings.map((chunks, index) => stream(apiOf(index), chunks, ended.signal, delays)),
  );
  running.catch(() => {});
  const hasSessions = async () => {
    const nodes = await nodesOf(apiOf(0));
    return nodes.reduce((sum, { sessions }) => sum + sessions, 0) >= streamCount / apiCount;
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
      const nodes = await nodesOf(apiOf(turn));
      const most = Math.max(...nodes.map(({ sessions }) => sessions));
      const at = nodes.findIndex(({ sessions }) => sessions === most);
      assert.ok(most > 0, what);
      await happen(engines[at] ?? assert.fail(), at);
      await untilNode(at, isBack);
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
  // The quiet run sends the same audio at once.
  const never = new AbortController().signal;
  const quiet = await Promise.all(
    found.map(({ sent }, index) => {
      const chunks = (recordings[index] ?? []).slice(0, sent);
      return stream(apiOf(index), [joined(...chunks)], never);
    }),
  );
  for (const [index, { finals }] of found.entries()) {
    assert.ok(finals.length > 5, `stream ${index}`);
    assert.deepEqual(finals, quiet[index]?.finals, `stream ${index}`);
  }
});
