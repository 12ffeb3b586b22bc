// Engine processes that are killed and stopped during live streams through the whole service:
// clients notice only a delay.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { scriptedOrders } from "../../src/engines/scripted/scripted-engine.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { flite, joined, noise, silence } from "../fixtures/flite.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";
import { until } from "../fixtures/until.ts";
import { fsckClean } from "./fsck-clean.ts";
import { type ServiceProcess, startService, treeOf } from "./process.ts";

let folder: string;
/** A service with two processes of the scripted engine. */
let scripted: ServiceProcess;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-engines-"));
  scripted = await startService(join(folder, "scripted"), {
    HLUST_ENGINE: "scripted",
    HLUST_ENGINE_PROCESSES: "2",
    HLUST_LOG: "debug",
  });
});
after(async () => {
  await scripted.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the engine processes that are ready, according to the log, and alive. */
function enginesOf(service: ServiceProcess): number[] {
  const alive = treeOf(service.pid).filter(({ command }) => command.includes("engine-process"));
  const log = service.output().errors;
  const isReady = (pid: number) => new RegExp(`"pid":${pid},.*"engine.ready"`).test(log);
  return alive.map(({ pid }) => pid).filter(isReady);
}

const allReady = (service: ServiceProcess) =>
  until(async () => enginesOf(service).length === 2, 60_000);

/**
 * Recognizes a recording over WebSocket. Returns the final results with all times, and how the
 * stream closed.
 */
async function recognize(
  service: ServiceProcess,
  samples: Int16Array,
  { secondsPerSecond, changes = {} }: { secondsPerSecond: number; changes?: object },
) {
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({ enableWordTimeOffsets: true, ...changes }));
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const chunkBytes = 3200;
  const start = performance.now();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const dueMs = start + at / 32 / secondsPerSecond - performance.now();
    if (dueMs > 1) await delay(dueMs);
    stream.sendAudio(bytes.subarray(at, at + chunkBytes), chunkBytes);
  }
  stream.send({ audioContent: "" });
  const code = await stream.closed;
  const error = stream.messages.find((message) => message.error)?.error;
  return { code, error, finals: finalsOf(stream.messages) };
}

test("20 kills of engine processes (kill -9) in the middle of 20 streams change no final result", async () => {
  const service = scripted;
  const recordings = Array.from({ length: 20 }, (_, index) =>
    joined(
      silence(100 * index),
      ...Array.from({ length: 12 }, (__, part) =>
        joined(speech(700 + 130 * ((index + part) % 9)), silence(300 + 110 * (part % 7))),
      ),
    ),
  );
  const run = (secondsPerSecond: number) =>
    Promise.all(recordings.map((samples) => recognize(service, samples, { secondsPerSecond })));
  const undisturbed = await run(20);
  assert.ok(undisturbed.every(({ code, finals }) => code === 1000 && finals.length >= 4));

  const kills = { done: 0 };
  const killing = async () => {
    while (kills.done < 20) {
      await allReady(service);
      const pids = enginesOf(service);
      // Kills one process, then the other, and sometimes both at once.
      const victims = kills.done % 3 === 2 ? pids : pids.slice(kills.done % 2).slice(0, 1);
      for (const pid of victims) process.kill(pid, "SIGKILL");
      kills.done += victims.length;
      await until(async () => victims.every((pid) => !existsSync(`/proc/${pid}`)));
    }
  };
  const killed = killing();
  // The streams are slow, so that each kill occurs in the middle of all of them.
  for (let round = 0; round === 0 || kills.done < 20; round++) {
    assert.deepEqual(await run(2), undisturbed);
  }
  await killed;
  const lost = () => service.output().errors.match(/"engine.lost"/g) ?? [];
  // The service notices the last kill a moment after the process is gone.
  await until(async () => lost().length >= 20);
  const replays = service.output().errors.match(/"engine.replay"/g) ?? [];
  assert.ok(replays.length >= 100, `${replays.length} streams were replayed`);
  await fsckClean(join(folder, "scripted"));
});

/**
 * Returns only texts and times: the confidences of a new PocketSphinx decoder differ by 0.00001.
 */
const wordsOf = ({ code, error, finals }: Awaited<ReturnType<typeof recognize>>) => ({
  code,
  error,
  finals: finals.map(({ transcript, words = [] }) => ({
    transcript,
    words: words.map(({ word, startTime, endTime }) => `${word} ${startTime} ${endTime}`),
  })),
});

test("kill -9 and SIGSTOP with PocketSphinx change no words and no times", async () => {
  await using service = await startService(join(folder, "sphinx"), {
    HLUST_ENGINE: "pocketsphinx",
    HLUST_ENGINE_PROCESSES: "2",
    // The load may decide otherwise in the second run.
    HLUST_LIVE_EFFORT: "quick",
    HLUST_LOG: "debug",
  });
  const gap = noise(900, 20);
  // There is one sentence per process, since this many streams are admitted even on a busy machine.
  const sentences = [
    ["the weather is good", "thank you very much"],
    ["good morning", "seven men came"],
  ];
  const recordings = sentences.map((texts, index) =>
    joined(
      gap,
      ...texts.map((text) => joined(flite(text, { voice: index === 1 ? "rms" : "slt" }), gap)),
    ),
  );
  const run = () =>
    Promise.all(recordings.map((samples) => recognize(service, samples, { secondsPerSecond: 1 })));
  const undisturbed = await run();
  for (const { code, finals } of undisturbed) {
    assert.equal(code, 1000);
    assert.ok(finals.length >= 1);
  }
  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    await allReady(service);
    const stopping = async () => {
      await delay(1800);
      for (const pid of enginesOf(service).slice(0, 1)) process.kill(pid, signal);
      if (signal === "SIGSTOP") return;
      await allReady(service);
      for (const pid of enginesOf(service)) process.kill(pid, signal);
    };
    const start = performance.now();
    const [disturbed] = await Promise.all([run(), stopping()]);
    assert.deepEqual(disturbed.map(wordsOf), undisturbed.map(wordsOf));
    // A stopped process is replaced after 10 s without progress, and not before.
    const seconds = (performance.now() - start) / 1000;
    if (signal === "SIGSTOP") assert.ok(seconds > 10, `${seconds} s`);
  }
  await fsckClean(join(folder, "sphinx"));
});

test("a stream that crashes engines fails with ENGINE_FAILED, and no other stream fails", async () => {
  const samples = joined(speech(2000), silence(700), speech(1500));
  const others = Array.from({ length: 10 }, () =>
    recognize(scripted, samples, { secondsPerSecond: 2 }),
  );
  const poison = joined(speech(500), speech(200).fill(scriptedOrders.die), speech(500));
  const { code, error } = await recognize(scripted, poison, { secondsPerSecond: 10 });
  assert.equal(code, 1011);
  assert.equal(error?.code, 13);
  assert.match(JSON.stringify(error?.details), /ENGINE_FAILED/);
  const results = await Promise.all(others);
  for (const each of results) {
    assert.equal(each.code, 1000);
    assert.deepEqual(each.finals, results[0]?.finals);
    assert.equal(each.finals.length, 2);
  }
  await fsckClean(join(folder, "scripted"));
});

test("a stream above the capacity is refused with 1013, and the others continue", async () => {
  await using service = await startService(join(folder, "full"), {
    HLUST_ENGINE: "scripted",
    HLUST_ENGINE_PROCESSES: "1",
    HLUST_LOG: "debug",
  });
  const toil = speech(60_000).fill(scriptedOrders.toil);
  const streams: Awaited<ReturnType<typeof openStream>>[] = [];
  const sending: NodeJS.Timeout[] = [];
  const refused = async () => {
    const stream = await openStream(service.address, { token: service.key });
    stream.send(streamingConfig());
    const bytes = Buffer.from(toil.buffer);
    let at = 0;
    const send = () => stream.sendAudio(bytes.subarray(at, (at += 3200)), 3200);
    send();
    sending.push(setInterval(send, 100));
    const first = await Promise.race([
      stream.closed,
      stream.waitFor(({ result }) => result !== undefined),
    ]);
    if (typeof first === "number") return { code: first, message: stream.messages.at(-1) };
    streams.push(stream);
    return undefined;
  };
  try {
    let last = await refused();
    while (!last) {
      assert.ok(streams.length <= 8, "more than a process can serve");
      await delay(1000);
      last = await refused();
    }
    assert.equal(last.code, 1013);
    assert.equal(last.message?.error?.code, 8);
    const details = JSON.stringify(last.message?.error?.details);
    assert.match(details, /STREAMS_FULL/);
    assert.match(details, /RetryInfo","retryDelay":"5s"/);
    const health: unknown = await (await fetch(`${service.address}/readyz`)).json();
    assert.match(
      JSON.stringify(health),
      new RegExp(`"sessions":${streams.length},.*"streamsMax":[1-9]`),
    );
    for (const stream of streams)
      assert.equal(
        stream.messages.some(({ error }) => error),
        false,
      );
  } finally {
    for (const timer of sending) clearInterval(timer);
    for (const stream of streams) stream.terminate();
  }
  await fsckClean(join(folder, "full"));
});
