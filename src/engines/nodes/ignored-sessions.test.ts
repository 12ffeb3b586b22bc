// Tests engine nodes that answer beats and report their load, but do nothing for a session.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  commitsWithoutPool,
  finalsWithoutPool,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { joined, silence } from "../../../test/fixtures/flite.ts";
import { openKeptLog } from "../../../test/fixtures/kept-log.ts";
import { type Badness, openBadNode } from "../../../test/fixtures/open-bad-node.ts";
import {
  openEngineNode,
  openNodesPool,
  type OpenEngineNode,
  untilReady,
} from "../../../test/fixtures/open-engine-node.ts";
import { Engines, type ServeRequestSchema } from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { EnginePool } from "../pool/engine-pool.ts";
import { bytesOfSamples, FrameWriter, jsonPayload } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { scriptedOrders } from "../scripted/scripted-engine.ts";
import { nodeProtocol } from "./node-protocol.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";

const said = [speech(1200), silence(800), speech(700), silence(900), speech(400)];
const samples = said.reduce((sum, { length }) => sum + length, 0);
const short = { mode: "short" } as const;
const expected = finalsWithoutPool(said, short);

let good: OpenEngineNode;
before(async () => {
  good = await openEngineNode(1);
});
after(() => good[Symbol.asyncDispose]());

/** Opens a pool that uses these nodes, and its log. */
async function openPool(ports: readonly number[]) {
  const kept = openKeptLog();
  const pool = await openNodesPool(ports, { log: kept.log });
  await untilReady(pool, ports.length);
  return { pool, kept, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

const none = { cpuSeconds: 0, audioSeconds: 0 };
const idle = {
  live: [],
  liveLateMs: 0,
  work: { live: none, short: none, job: none },
  fullWork: none,
} as const;

/** Sends the reports of that many seconds at once. An earlier version does not say what is busy. */
function report(writer: FrameWriter, seconds: number, busy?: readonly number[]): void {
  const load: LoadReport = { ...idle, seconds: 1, ...(busy && { busy }) };
  for (let second = 0; second <= seconds; second += 1) writer.writeJson("load", 0, load);
}

/** Sends what a good engine process sends for what is said. */
function answer(writer: FrameWriter, session: number): void {
  writer.writeJson("received", session, samples);
  for (const commit of commitsWithoutPool(said, short)) {
    writer.writeJson("committed", session, commit);
  }
  writer.write("done", session);
}

async function recognizeAgain(pool: EnginePool, calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    assert.deepEqual(await recognize(pool, said, short), expected, `call ${call}`);
  }
}

test("an engine node that does nothing for its sessions costs a delay, is named, and gets no more of them", async () => {
  let sessions = 0;
  await using node = await openBadNode(({ writer }) => {
    sessions += 1;
    report(writer, 60, []);
  });
  await using opened = await openPool([node.port, good.port]);
  const { pool, kept } = opened;
  await recognizeAgain(pool, 8);
  assert.equal(sessions, 3);
  const lines = kept.of("engine.session_ignored");
  const name = `127.0.0.1:${node.port}`;
  assert.deepEqual(
    lines.map((line) => line["node"]),
    [name, name, name],
  );
  assert.deepEqual(
    kept.of("engine.failing").map((line) => line["node"]),
    [name],
  );
  assert.deepEqual(kept.of("engine.node_misbehaved"), []);
  assert.equal(pool.state().nodes?.[0]?.connected, true);
});

test("a session for which a node does nothing moves, although it answers other sessions", async () => {
  let sessions = 0;
  await using node = await openBadNode(({ session, writer }) => {
    sessions += 1;
    if (sessions % 2 === 0) answer(writer, session);
    else report(writer, 60, []);
  });
  await using opened = await openPool([node.port, good.port]);
  await recognizeAgain(opened.pool, 6);
  const { length } = opened.kept.of("engine.session_ignored");
  assert.ok(sessions >= 4 && length >= 2, `${sessions} sessions, of which ${length} moved`);
  assert.deepEqual(opened.kept.of("engine.failing"), []);
});

test("words are aligned by another node than one that does nothing for the window", async () => {
  await using node = await openBadNode(({ writer }) => report(writer, 60, []));
  const align = async (pool: EnginePool) => {
    const { signal } = new AbortController();
    return await pool.align(speech(2_000), ["one", "two"], { languageCode: "is-IS", signal });
  };
  await using alone = await openPool([good.port]);
  await using opened = await openPool([node.port, good.port]);
  assert.deepEqual(await align(opened.pool), await align(alone.pool));
  assert.equal(opened.kept.of("engine.session_ignored").length, 1);
});

const patient: [what: string, badness: Badness][] = [
  [
    "works on a session for an hour",
    ({ session, writer }) => {
      report(writer, 3_600, [session]);
      answer(writer, session);
    },
  ],
  [
    "is of an earlier version, and silent for nine minutes",
    ({ session, writer }) => {
      report(writer, 540);
      answer(writer, session);
    },
  ],
  [
    "has much to read before the session, for 50 s",
    ({ session, writer }) => {
      report(writer, 50, []);
      answer(writer, session);
    },
  ],
];

for (const [what, badness] of patient) {
  test(`a slow engine node keeps its session: it ${what}`, async () => {
    let sessions = 0;
    await using node = await openBadNode((at) => {
      sessions += 1;
      badness(at);
    });
    await using opened = await openPool([node.port, good.port]);
    await recognizeAgain(opened.pool, 1);
    assert.equal(sessions, 1);
    assert.deepEqual(opened.kept.of("engine.session_ignored"), []);
  });
}

test("a node of an earlier version that sends nothing for a session for ten minutes loses it", async () => {
  await using node = await openBadNode(({ writer }) => report(writer, 600));
  await using opened = await openPool([node.port, good.port]);
  await recognizeAgain(opened.pool, 1);
  assert.equal(opened.kept.of("engine.session_ignored").length, 1);
});

test("a stream whose caller has paused keeps its session, however long that takes", async () => {
  const opened = new Set<number>();
  // The node has had everything, but need not say so below half a second.
  await using node = await openBadNode(
    ({ session, writer }) => {
      opened.add(session);
      if (opened.size > 1) writer.writeJson("error", session, { message: "not this one" });
      else report(writer, 3_600, []);
    },
    { at: "audio" },
  );
  await using parts = await openPool([node.port]);
  const { pool, kept } = parts;
  const stream = openInput(speech(400));
  const running = recognize(pool, stream.input);
  running.catch(() => {});
  await until(() => opened.size === 1, "the audio is there");
  // What fails here comes after all reports.
  await assert.rejects(recognize(pool, openInput(speech(400)).input), /not this one/);
  assert.deepEqual(kept.of("engine.session_ignored"), []);
  assert.equal(pool.state().sessions, 1);
});

test("if no node does anything for a session, its recognition ends, to be tried again", async () => {
  await using one = await openBadNode(({ writer }) => report(writer, 60, []));
  await using other = await openBadNode(({ writer }) => report(writer, 60, []));
  await using opened = await openPool([one.port, other.port]);
  await assert.rejects(recognize(opened.pool, said, short), {
    code: "unavailable",
    reason: "NO_ENGINE",
  });
  const nodes = opened.kept.of("engine.session_ignored").map((line) => line["node"]);
  assert.equal(nodes.length, 3);
  assert.equal(new Set(nodes).size, 2);
});

test("an engine node reports to each client on which of its sessions the process works", async () => {
  const messages = new OutgoingMessages<MessageInitShape<typeof ServeRequestSchema>>(
    (process, frames) => ({ message: { case: "frames", value: { process, frames } } }),
  );
  const hello = { protocol: nodeProtocol, version: "1" };
  messages.push({ message: { case: "hello", value: hello } });
  const headers = { authorization: "Bearer the credential of these tests" };
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${good.port}` });
  const responses = createClient(Engines, transport).serve(messages, { headers });
  const writer = new FrameWriter({
    writable: true,
    write(bytes, done) {
      messages.frames(1, bytes);
      done();
    },
  });
  const reader = new FrameReader();
  const kinds: string[] = [];
  let beats = 0;
  for await (const { message } of responses) {
    if (message.case !== "beat") {
      beats += 1;
      messages.push({ message: { case: "beat", value: { number: beats, uses: [] } } });
    }
    if (message.case === "ready") {
      const options = { alternativesMax: 1, interim: false, silenceMsMin: 500, punctuation: true };
      const open = { options: { ...scriptedOptions, ...options, ...short }, isSuspect: false };
      writer.writeJson("open", 71, open);
      // The engine waits for three seconds.
      const order = speech(40).fill(scriptedOrders.askRemote);
      writer.write("audio", 71, bytesOfSamples(joined(order, speech(360))));
      writer.write("endInput", 71);
    }
    if (message.case !== "frames") continue;
    for (const frame of reader.push(Buffer.from(message.value.frames))) {
      const { kind } = frame;
      kinds.push(kind === "load" ? `busy ${jsonPayload("load", frame).busy?.join()}` : kind);
    }
    if (kinds.includes("done") && kinds.at(-1) === "busy ") break;
  }
  assert.equal(kinds.filter((kind) => kind === "busy 71").length >= 2, true, kinds.join());
  assert.ok(kinds.lastIndexOf("busy 71") < kinds.indexOf("done"), kinds.join());
  messages.end();
});
