// Nodes without models that are killed and suspended during live streams on engine nodes: the
// engine nodes let their sessions go, and no word is lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { until } from "../fixtures/until.ts";
import { type ApartNodes, nodesOf, openApartNodes, sessionsOf } from "./apart-nodes.ts";
import { chunksOf, movedBy, quietFinals, stream, StreamCaller } from "./apart-streams.ts";

/** `npm run test:long` runs three engine nodes and forty callers. */
const isLong = process.env["ENGINES_APART"] === "all";
const [engineCount, callersPerNode] = isLong ? [3, 20] : [2, 4];

let nodes: ApartNodes;
before(async () => {
  nodes = await openApartNodes({ engines: engineCount, apis: 2 });
});
after(() => nodes[Symbol.asyncDispose](), { timeout: 120_000 * cpuSlowness });

test("an API node that is killed or suspended leaves no session behind, and costs its callers no word", async () => {
  const [stays, ends] = [nodes.apis[0] ?? assert.fail(), nodes.apis[1] ?? assert.fail()];
  await nodes.untilAllBack();
  const ended = new AbortController();
  // Those of the node that stays are first.
  const callers = Array.from({ length: 2 * callersPerNode }, (_, index) => {
    const own = index < callersPerNode ? [stays, stays] : [ends, stays];
    let calls = 0;
    return new StreamCaller(index, () => (own[(calls += 1) - 1] ?? stays).service);
  });
  const running = Promise.all(callers.map(async (caller) => await caller.speak(ended.signal)));
  running.catch(() => {});
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  /** Waits until the engine nodes have this many sessions, and the node that stays knows it. */
  const untilSessions = async (count: number) =>
    await until(async () => {
      const own = sum(await Promise.all(nodes.engines.map(sessionsOf)));
      const seen = sum((await nodesOf(stays)).map((node) => node.sessions));
      return own === count && seen === count;
    }, 60_000);
  const untilEachHas = async (more: number) => {
    const wanted = callers.map(({ delays }) => delays.length + more);
    const haveThem = () => callers.every(({ delays }, at) => delays.length >= (wanted[at] ?? 0));
    await until(async () => Promise.resolve(haveThem()), 60_000);
  };
  try {
    await untilEachHas(2);
    await untilSessions(callers.length);

    await ends.service.crash();
    await untilEachHas(2);
    // Each caller has one session, and those of the dead node are gone.
    await untilSessions(callers.length);
    for (const [at, { again }] of callers.entries()) {
      assert.equal(again, at < callersPerNode ? 0 : 1, `caller ${at}`);
    }

    // It comes back, and serves.
    await ends.start();
    await nodes.untilAllBack();
    const never = new AbortController().signal;
    const few = chunksOf(20).slice(0, 40);
    const { finals } = await stream(ends.service, few, never);
    assert.deepEqual(finals, await quietFinals(stays.service, 20, few.length));

    // A node that hangs is let go after some seconds. Its streams go on when it does.
    const hung = new AbortController();
    const late = chunksOf(21).slice(0, 300);
    const slept = stream(ends.service, late, hung.signal);
    await untilSessions(callers.length + 1);
    ends.service.child.kill("SIGSTOP");
    await untilSessions(callers.length);
    ends.service.child.kill("SIGCONT");
    await untilSessions(callers.length + 1);
    hung.abort();
    const { finals: lateFinals, sent } = await slept;
    assert.deepEqual(lateFinals, await quietFinals(stays.service, 21, sent));
    await untilEachHas(1);
  } finally {
    ended.abort();
  }
  const sent = await running;
  await untilSessions(0);
  for (const [at, { finals }] of callers.entries()) {
    const quiet = await quietFinals(stays.service, at, sent[at] ?? 0);
    assert.ok(finals.length > 4, `caller ${at}`);
    assert.deepEqual(
      finals.map((final) => movedBy(final, 0)),
      quiet.map((final) => movedBy(final, 0)),
      `caller ${at}`,
    );
  }
  // Nothing of the dead node is counted against new streams.
  assert.equal(await sessionsOf(stays), 0);
  await until(async () => (await nodesOf(stays)).every(({ load }) => load < 0.1));
  for (const { service } of nodes.engines) {
    assert.match(service.output().errors, /"event":"engine.client_lost"/);
  }
});
