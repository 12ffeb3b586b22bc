// Tests pools of front processes, which are connected to the engine processes of their node
// themselves.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cpuSlowness } from "../../../test/fixtures/cpu-slowness.ts";
import {
  enginePids,
  finalsWithoutPool,
  isAlive,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { openKeptLog } from "../../../test/fixtures/kept-log.ts";
import { createLog } from "../../std/log.ts";
import { sessionNumbers } from "../pool/child-sessions.ts";
import type { EngineChild } from "../pool/engine-child.ts";
import { type EnginePool, openEnginePool } from "../pool/engine-pool.ts";
import { FrameWriter } from "../protocol/engine-frames.ts";
import type { NodeName } from "./engine-nodes.ts";
import { openEngineListener } from "./serve-engines.ts";
import { SharedProcesses } from "./shared-processes.ts";

const log = createLog("silent");
const credential = "the credential of this start";
const said = [speech(1200), silence(800), speech(700), silence(900), speech(400)];

/** Opens a main process, and pools as front processes have them. */
async function openFronts(
  count: number,
  {
    names = [],
    ...options
  }: { readonly stuckMsMax?: number; readonly names?: readonly NodeName[] } = {},
) {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-direct-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const shared = new SharedProcesses();
  const kept = openKeptLog();
  const children: EngineChild[] = [];
  const share = {
    add(child: EngineChild, model: Parameters<SharedProcesses["add"]>[1]) {
      children.push(child);
      shared.add(child, model);
    },
    retire: (child: EngineChild) => shared.retire(child),
  };
  const main = parts.use(
    await openEnginePool({ engine: "scripted", processes: 1, share, log: kept.log, ...options }),
  );
  await shared.listenIn(folder, credential);
  const socketPath = join(folder, "engines");
  const at = { socketPath };
  parts.use(
    await openEngineListener(shared, { at, credential, cores: 1, isLoading: () => false, log }),
  );
  const mainProcess = { socketPath, credential, silentMsMax: 30_000 };
  const name = { host: "localhost", port: 80, isEncrypted: false, main: mainProcess };
  const pools: EnginePool[] = [];
  for (let front = 0; front < count; front += 1) {
    const nodes = { names: [name, ...names], credential: "the credential of engine nodes" };
    const own = { engine: "scripted", processes: 1, hasOwnModels: false, nodes, log } as const;
    pools.push(parts.use(await openEnginePool(own)));
  }
  const processes = 1 + names.length;
  await until(
    () => pools.every((pool) => pool.state().ready === processes),
    () => JSON.stringify(pools.map((pool) => pool.state().nodes)),
  );
  const open = parts.move();
  return {
    folder,
    shared,
    main,
    pools,
    children,
    log: kept,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const hasSocket = (message: unknown): message is { readonly socket: Socket } =>
  typeof message === "object" && message !== null && "socket" in message;
const sessionsOf = (pool: EnginePool) => pool.state().models[0]?.sessions;

test("front processes and the main one use an engine process at once, each without the others", async () => {
  await using opened = await openFronts(2);
  const { main, pools, shared } = opened;
  const all = [main, ...pools];
  const streams = all.flatMap((pool) => [1, 2, 3].map(() => ({ pool, ...openInput(...said) })));
  const running = streams.map(({ pool, input }) => recognize(pool, input));
  // Each knows the sessions of all, although none pass through the main process.
  await until(
    () => all.every((pool) => sessionsOf(pool) === streams.length),
    () => all.map(sessionsOf).join(),
  );
  assert.equal(shared.sessions, 0);
  for (const { end } of streams) end();
  const expected = finalsWithoutPool(said);
  for (const found of await Promise.all(running)) assert.deepEqual(found, expected);
  for (const mode of ["short", "job"] as const) {
    const found = await Promise.all(all.map((pool) => recognize(pool, said, { mode })));
    for (const each of found) assert.deepEqual(each, finalsWithoutPool(said, { mode }));
  }
  await until(() => all.every((pool) => sessionsOf(pool) === 0), "they have ended");
});

test("front processes also use the engine nodes of their node", async () => {
  await using parts = new AsyncDisposableStack();
  const shared = new SharedProcesses();
  parts.use(await openEnginePool({ engine: "scripted", processes: 1, share: shared, log }));
  const { address } = parts.use(
    await openEngineListener(shared, {
      at: { host: "127.0.0.1", port: 0 },
      credential: "the credential of engine nodes",
      cores: 1,
      isLoading: () => false,
      log,
    }),
  );
  const port = Number(address.split(":").at(-1));
  const names = [{ host: "127.0.0.1", port, isEncrypted: false }];
  await using opened = await openFronts(1, { names });
  const [front = assert.fail()] = opened.pools;
  const streams = Array.from({ length: 6 }, () => openInput(...said));
  const running = streams.map(({ input }) => recognize(front, input));
  await until(
    () => shared.sessions > 0 && sessionsOf(opened.main) !== 0,
    () => JSON.stringify(front.state().nodes),
  );
  for (const { end } of streams) end();
  for (const found of await Promise.all(running)) assert.deepEqual(found, finalsWithoutPool(said));
});

test("an engine process that dies or hangs is replaced, and the streams of front processes continue", async () => {
  await using opened = await openFronts(2, { stuckMsMax: 1_000 });
  const { pools } = opened;
  const expected = finalsWithoutPool([...said, ...said]);
  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    const [pid = assert.fail("there is no process")] = enginePids();
    const gate = Promise.withResolvers<void>();
    let finals = 0;
    const running = pools.map(async (pool) => {
      async function* input() {
        yield* said;
        await gate.promise;
        yield* said;
      }
      const found = [];
      for await (const each of pool.recognize(input(), scriptedOptions)) {
        found.push(each);
        finals += 1;
      }
      return found;
    });
    await until(() => finals === 4, "each stream has two finals");
    process.kill(pid, signal);
    gate.resolve();
    for (const found of await Promise.all(running)) assert.deepEqual(found, expected, signal);
    assert.ok(!isAlive(pid), signal);
  }
  const [, stopped = assert.fail("no process was replaced")] = opened.children;
  await stopped.exited;
  assert.equal(stopped.exitReason, "stuck", "a front process has killed it");
  // The sockets of processes that have ended are removed.
  const listening = () => readdirSync(opened.folder).filter((name) => name.startsWith("process-"));
  await until(
    () => listening().join() === "process-3",
    () => listening().join(),
  );
});

test("a front process whose connection to an engine process ends connects again, and the process goes on", async () => {
  const sockets: Socket[] = [];
  const note = (message: unknown) => {
    if (hasSocket(message)) sockets.push(message.socket);
  };
  subscribe("net.client.socket", note);
  await using opened = await openFronts(2).finally(() => unsubscribe("net.client.socket", note));
  const { pools } = opened;
  const [pid] = enginePids();
  const streams = pools.map((pool) => ({ pool, ...openInput(...said) }));
  const running = streams.map(({ pool, input }) => recognize(pool, input));
  await until(() => sessionsOf(opened.main) === 2, "both have begun");
  // Each front process opened a connection to the main process, and then one to the engine process.
  assert.equal(sockets.length, 4);
  sockets.at(-1)?.destroy();
  await until(() => pools.some((pool) => pool.state().ready === 0), "the connection has ended");
  await until(
    () => pools.every((pool) => pool.state().ready === 1),
    () => JSON.stringify(pools.map((pool) => pool.state().nodes)),
  );
  for (const { end } of streams) end();
  for (const found of await Promise.all(running)) assert.deepEqual(found, finalsWithoutPool(said));
  const after = await Promise.all(pools.map((pool) => recognize(pool, said)));
  for (const found of after) assert.deepEqual(found, finalsWithoutPool(said));
  assert.deepEqual(enginePids(), [pid]);
  // The connections to the main process, and so those to its other processes, go on.
  assert.deepEqual(
    pools.flatMap((pool) => pool.state().nodes?.map(({ losses }) => losses)),
    [0, 0],
  );
});

test("a fault of a front process ends the stream that it concerns, and no other one", async () => {
  await using opened = await openFronts(1);
  const [front = assert.fail()] = opened.pools;
  const pids = enginePids();
  const stream = openInput(...said);
  const running = recognize(front, stream.input);
  const fault = new TypeError("a fault of the program");
  const onProgress = () => {
    throw fault;
  };
  await assert.rejects(recognize(front, said, { mode: "job", onProgress }), fault);
  stream.end();
  assert.deepEqual(await running, finalsWithoutPool(said));
  assert.deepEqual(enginePids(), pids);
  await until(() => sessionsOf(opened.main) === 0, "the stream has ended in the engine process");
});

test("a process is of use once a session of a front process has a final, and not before", async () => {
  await using opened = await openFronts(1);
  const [front = assert.fail()] = opened.pools;
  const [child = assert.fail()] = opened.children;
  let spoken = 0;
  child.observer = {
    loaded: ({ work }) => (spoken += work.live.audioSeconds),
    working: () => {},
  };
  const gate = Promise.withResolvers<void>();
  async function* input() {
    yield speech(4_000);
    await gate.promise;
    yield silence(1_000);
  }
  const running = recognize(front, input());
  await until(() => spoken >= 3, "the process has worked on speech");
  assert.equal(child.hasCommitted, false);
  gate.resolve();
  await until(() => child.hasCommitted, "there is a final");
  assert.equal((await running).length, 1);
});

test("the frames of front processes pass through the main process if an engine process does not answer that it listens", async () => {
  await using opened = await openFronts(0);
  const { folder, children, log: kept } = opened;
  const [child = assert.fail()] = children;
  process.kill(child.pid, "SIGSTOP");
  try {
    const at = { socketPath: join(folder, "process-never"), credential };
    assert.equal(await child.listen(at, 200), false);
  } finally {
    process.kill(child.pid, "SIGCONT");
  }
  const [line] = kept.of("engine.not_listening");
  assert.equal(line?.["problem"], "it did not answer within 0.2 s");
  assert.equal(line["pid"], child.pid);
});

test("a process that is replaced serves the streams of front processes to their end", async () => {
  await using opened = await openFronts(1);
  const [front = assert.fail()] = opened.pools;
  const [child = assert.fail()] = opened.children;
  const stream = openInput(...said);
  const running = recognize(front, stream.input);
  await until(() => sessionsOf(front) === 1, "it has begun");
  opened.shared.retire(child);
  let isClosed = false;
  const reportedMs = 3_000 * cpuSlowness;
  const closing = child.closeWhenIdle(reportedMs).then(() => (isClosed = true));
  await until(() => child.sessions === 1, "the main process knows of the stream");
  await until(() => child.hasCommitted, "the main process knows that it does useful work");
  // Longer than the process waits for a report of the sessions of others.
  await new Promise((resolve) => setTimeout(resolve, reportedMs + 500));
  assert.equal(isClosed, false);
  stream.end();
  assert.deepEqual(await running, finalsWithoutPool(said));
  await closing;
  assert.ok(child.hasExited);
});

test("the sessions of a front process that dies end in the engine process", async () => {
  await using opened = await openFronts(1);
  const { folder, children, pools } = opened;
  const [child = assert.fail()] = children;
  let sessions = 0;
  child.observer = { loaded: ({ live }) => (sessions = live.length), working: () => {} };
  const stream = openInput(...said);
  const running = recognize(pools[0] ?? assert.fail(), stream.input);
  const socket = connect(join(folder, "process-1"));
  const writer = new FrameWriter(socket);
  writer.writeJson("enter", 0, credential);
  const defaults = { alternativesMax: 1, interim: false, silenceMsMin: 500, punctuation: true };
  const options = { ...scriptedOptions, ...defaults };
  for (const session of [1, 2]) {
    writer.writeJson("open", 99 * sessionNumbers + session, { options, isSuspect: false });
  }
  await until(() => sessions === 3, "its sessions are open");
  socket.destroy();
  await until(() => sessions === 1, "its sessions have ended");
  stream.end();
  assert.deepEqual(await running, finalsWithoutPool(said));
});

test("a connection to an engine process without the credential is closed", async () => {
  await using opened = await openFronts(1);
  const { folder, pools } = opened;
  const [front = assert.fail()] = pools;
  const running = recognize(front, said);
  const name = readdirSync(folder).find((each) => each.startsWith("process-"));
  const socketPath = join(folder, name ?? assert.fail("no process listens"));
  const wrong = (writer: FrameWriter) => writer.writeJson("enter", 0, "another credential");
  const none = (writer: FrameWriter) => writer.write("endInput", 1);
  for (const send of [wrong, none]) {
    const socket = connect(socketPath);
    send(new FrameWriter(socket));
    await once(socket.resume(), "close");
  }
  assert.deepEqual(await running, finalsWithoutPool(said));
});
