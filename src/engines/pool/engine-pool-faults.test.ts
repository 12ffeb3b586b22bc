// Tests what clients see of processes that die, stop, loop, or send garbage.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import {
  assertRising,
  enginePids,
  finalsWithoutPool,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";
import { endUtterance, type Recognition, type RecognitionInput } from "../protocol/recognizer.ts";
import { scriptedOrders } from "../scripted/scripted-engine.ts";

const log = createLog("silent");
const stuckMsMax = 500;
/** The number of rounds of kills at random moments; `npm run test:long` runs many more. */
const killRounds = Number(process.env["ENGINE_ROUNDS"] ?? 6);
let others: ReadonlySet<number>;
let pool: EnginePool;
before(async () => {
  others = new Set(enginePids());
  pool = await openEnginePool({ engine: "scripted", processes: 2, log, stuckMsMax });
});
after(() => pool[Symbol.asyncDispose]());

const pids = () => enginePids().filter((pid) => !others.has(pid));
const allReady = () => until(() => pool.state().ready === 2, "the processes are back");

/** Yields these chunks, spread over this time. */
async function* paced(items: readonly RecognitionInput[], totalMs: number) {
  const start = performance.now();
  for (const [index, item] of items.entries()) {
    const dueMs = start + (index * totalMs) / items.length - performance.now();
    if (dueMs > 1) await delay(dueMs);
    yield item;
  }
}

const itemsOf = (sections: readonly { isSpeech: boolean; ms: number }[], chunkMs: number) =>
  sections.flatMap(({ isSpeech, ms }): RecognitionInput[] => {
    if (ms < 20) return [endUtterance];
    const samples = isSpeech ? speech(ms) : silence(ms);
    const length = chunkMs * 16;
    return Array.from({ length: Math.ceil(samples.length / length) }, (_, index) =>
      samples.subarray(index * length, (index + 1) * length),
    );
  });

test("processes killed at random times change no final result, and no word is lost or repeated", async () => {
  const stream = fc.record({
    sections: fc.array(
      fc.record({ isSpeech: fc.boolean(), ms: fc.integer({ min: 1, max: 2000 }) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    ),
    chunkMs: fc.integer({ min: 5, max: 400 }),
    totalMs: fc.constantFrom(0, 200, 400, 800),
    mode: fc.constantFrom("live", "live", "live", "short", "job"),
  });
  const rounds = fc.record({
    streams: fc.array(stream, { minLength: 20, maxLength: 20 }),
    kills: fc.array(
      fc.record({
        which: fc.constantFrom("first", "last", "all"),
        afterMs: fc.integer({ min: 0, max: 150 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  });
  for (const { streams, kills } of fc.sample(rounds, killRounds)) {
    await allReady();
    const running = streams.map(async ({ sections, chunkMs, totalMs, mode }) => {
      const items = itemsOf(sections, chunkMs);
      const reported: number[] = [];
      const onProgress = (ms: number) => reported.push(ms);
      const found = await recognize(pool, paced(items, totalMs), { mode, onProgress });
      assert.deepEqual(found, finalsWithoutPool(items, { mode }));
      if (mode === "job") assertRising(reported, items);
      return found.length;
    });
    const counts = Promise.all(running);
    counts.catch(() => {});
    for (const { which, afterMs } of kills) {
      await delay(afterMs);
      const victims = { first: pids().slice(0, 1), last: pids().slice(-1), all: pids() }[which];
      for (const pid of victims) process.kill(pid, "SIGKILL");
    }
    assert.ok((await counts).some((count) => count > 0));
  }
  assert.equal(pool.state().sessions, 0);
});

test("interim results never lose words when another process takes over", async () => {
  await allReady();
  const items = itemsOf([{ isSpeech: true, ms: 8000 }], 100);
  const found: Recognition[] = [];
  let isKilled = false;
  for await (const recognition of pool.recognize(paced(items, 800), {
    ...scriptedOptions,
    interim: true,
  })) {
    found.push(recognition);
    if (found.length < 6 || isKilled) continue;
    isKilled = true;
    for (const pid of pids()) process.kill(pid, "SIGKILL");
  }
  const words = found.map(({ alternatives: [best] }) => best?.words.length ?? 0);
  assert.deepEqual(
    words,
    words.toSorted((a, b) => a - b),
  );
  assert.equal(found.at(-1)?.isFinal, true);
  assert.equal(words.at(-1), 16);
  assert.ok(found.length >= 16);
});

test("speech events are neither repeated nor lost when another process takes over", async () => {
  await allReady();
  const sections = [800, 600, 1500, 900, 700, 600].map((ms, at) => ({
    isSpeech: at % 2 === 0,
    ms,
  }));
  const items = itemsOf(sections, 100);
  const shown = ({ speechEvent, isFinal, audioEndMs }: Recognition) =>
    `${speechEvent ?? (isFinal ? "final" : "interim")} ${audioEndMs}`;
  const options = { speechEvents: true };
  const expected = (await recognize(pool, items, options)).map(shown);
  assert.deepEqual(
    expected.map((each) => each.split(" ")[0]),
    [1, 2, 3].flatMap(() => ["start", "end", "final"]),
  );
  for (const killedAfter of [1, 2, 3, 4, 7]) {
    await allReady();
    const found: string[] = [];
    for await (const each of pool.recognize(paced(items, 600), {
      ...scriptedOptions,
      ...options,
    })) {
      found.push(shown(each));
      if (found.length !== killedAfter) continue;
      for (const pid of pids()) process.kill(pid, "SIGKILL");
    }
    assert.deepEqual(found, expected, `killed after ${killedAfter}`);
  }
  assert.ok((await recognize(pool, items)).every(({ speechEvent }) => speechEvent === undefined));
});

test("each flush marker is reported once, also when another process takes over", async () => {
  await allReady();
  const sections = [700, 800, 600, 600].map((ms, at) =>
    itemsOf([{ isSpeech: at % 2 === 0, ms }], 100),
  );
  const [said = [], quiet = [], again = [], end = []] = sections;
  const items: RecognitionInput[] = [
    ...said,
    endUtterance,
    endUtterance,
    ...quiet,
    endUtterance,
    ...again,
    endUtterance,
    ...end,
    endUtterance,
  ];
  const shown = ({ speechEvent, isFinal, audioEndMs }: Recognition) =>
    `${speechEvent ?? (isFinal ? "final" : "interim")} ${audioEndMs}`;
  const options = { speechEvents: true };
  const expected = (await recognize(pool, items, options)).map(shown);
  assert.deepEqual(expected, [
    "start 0",
    "end 700",
    "final 700",
    "flushed 700",
    "flushed 700",
    "flushed 1500",
    "start 1360",
    "end 2100",
    "final 2100",
    "flushed 2100",
    "flushed 2700",
  ]);
  for (const killedAfter of [3, 6]) {
    await allReady();
    const found: string[] = [];
    for await (const each of pool.recognize(paced(items, 600), {
      ...scriptedOptions,
      ...options,
    })) {
      found.push(shown(each));
      if (found.length !== killedAfter) continue;
      for (const pid of pids()) process.kill(pid, "SIGKILL");
    }
    assert.deepEqual(found, expected, `killed after ${killedAfter}`);
  }
  assert.ok((await recognize(pool, items)).every(({ speechEvent }) => speechEvent === undefined));
});

test("a stopped process is replaced, an idle process is kept, and their streams continue", async () => {
  const rows: [what: string, stop: (pid: number) => void, extra: RecognitionInput[]][] = [
    ["stopped", (pid) => process.kill(pid, "SIGSTOP"), []],
    ["idle", () => {}, []],
  ];
  for (const [what, stop] of rows) {
    await allReady();
    const before = pids();
    const items = itemsOf(
      [
        { isSpeech: true, ms: 1500 },
        { isSpeech: false, ms: 800 },
      ],
      100,
    );
    const inputs = Array.from({ length: 6 }, () => openInput(...items));
    const running = inputs.map(({ input }) =>
      Array.fromAsync(pool.recognize(input, scriptedOptions)),
    );
    await until(() => inputs.every(({ given }) => given() === items.length), "all input is sent");
    for (const pid of before) stop(pid);
    // This is longer than a process may be stuck.
    await delay(2 * stuckMsMax);
    for (const { end } of inputs) end();
    for (const found of await Promise.all(running)) {
      assert.deepEqual(found, finalsWithoutPool(items), what);
    }
    const isReplaced = what === "stopped";
    await allReady();
    assert.equal(
      before.some((pid) => pids().includes(pid)),
      !isReplaced,
      what,
    );
  }
});

test("a stream that crashes, hangs or garbles its process three times fails, and no other stream fails", async () => {
  for (const [name, order] of Object.entries(scriptedOrders)) {
    if (name === "toil" || name === "askRemote") continue;
    await allReady();
    const before = pids();
    const items = itemsOf(
      [
        { isSpeech: true, ms: 3000 },
        { isSpeech: false, ms: 700 },
      ],
      100,
    );
    const innocent = Array.from({ length: 8 }, () => recognize(pool, paced(items, 1000)));
    const poison = recognize(pool, [speech(300), speech(300).fill(order), ...items]);
    await assert.rejects(poison, (error) => {
      assert.ok(error instanceof ServiceError, String(error));
      assert.equal(error.code, "internal");
      assert.equal(error.reason, "ENGINE_FAILED");
      assert.match(error.message, /3 times/);
      return true;
    });
    for (const found of await Promise.all(innocent)) {
      assert.deepEqual(found, finalsWithoutPool(items), name);
    }
    await allReady();
    assert.ok(
      before.every((pid) => !pids().includes(pid)),
      "every process has died of it",
    );
  }
});

test("final results before a crash are not repeated, and committed audio needs no process", async () => {
  await allReady();
  const first = [speech(1000), silence(1000)];
  const one = openInput(...first);
  const running = pool.recognize(one.input, scriptedOptions);
  assert.deepEqual((await running.next()).value, finalsWithoutPool(first)[0]);
  for (let round = 0; round < 3; round++) {
    for (const pid of pids()) process.kill(pid, "SIGKILL");
    await until(() => pool.state().ready === 0, "they have ended");
    await allReady();
  }
  one.end();
  assert.deepEqual(await Array.fromAsync(running), []);
});

test("a stream that begins while all processes are restarting waits for one", async () => {
  await allReady();
  for (const pid of pids()) process.kill(pid, "SIGKILL");
  await until(() => pool.state().ready === 0, "they have ended");
  assert.equal((await recognize(pool, [speech(500)])).length, 1);
});
