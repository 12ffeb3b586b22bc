// Two API nodes and two workers behind HAProxy, nginx and PgBouncer, configured as in
// docs/operations: the effects of restarts, kills and outages on callers.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { runHlust } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import type { FailedCall } from "./call-counter.ts";
import { Callers } from "./callers.ts";
import { chanceOf } from "./chance.ts";
import { fsckClean } from "./fsck-clean.ts";
import { openNodes, type NodeProcess, type Nodes } from "./open-nodes.ts";
import {
  bigUploadPasses,
  callerIsSeen,
  earlyRefusalPasses,
  longStreamPasses,
  pageSocketOpens,
  silencePasses,
} from "./proxy-probes.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const rounds = Number(process.env["FAULT_ROUNDS"] ?? 3);
const awayMs = Number(process.env["FAULT_AWAY_MS"] ?? 2_000);
/**
 * nginx has no health checks: after a stream has ended, nginx may send the caller back to the same
 * node, which refuses the caller once more.
 */
const handoversMax = 2;
/** For the same reason, one call at each stop may reach a node that is closing, and get a 502. */
const nginxFailuresMax = 1;
/**
 * The maximum number of calls of one caller that fail in a kill: one or two in flight, and one that
 * is sent to the dead node before the proxy notices.
 */
const cutMax = 3;
const timeout = 600_000;

test(`several nodes behind proxies (FAULT_SEED=${seed})`, { timeout }, async (context) => {
  await using nodes = await openNodes();
  const { key } = nodes.apis[0].service;
  const proxies = [
    { name: "HAProxy", address: nodes.haproxy.address },
    { name: "nginx", address: nodes.nginx.address },
  ];

  await context.test("HAProxy's checks find every node ready", () => nodes.untilReady());
  for (const { name, address } of proxies) {
    await context.test(`requests that ${name} might break succeed`, async () => {
      const target = { address, key };
      await bigUploadPasses(target);
      await earlyRefusalPasses(target);
      await longStreamPasses(target);
      await pageSocketOpens(target);
      await callerIsSeen(target, nodes.otherCaller);
    });
  }
  await context.test("API nodes stay in service while media is unavailable", () =>
    mediaIsDown(nodes, key),
  );
  await context.test("silent streams survive every time limit of the proxies", () =>
    silenceOutlasts(nodes, key),
  );

  const callers = new Callers({ proxies, key }, chanceOf(seed));
  await callers.during(async () => {
    await callers.untilAnswered();
    await context.test(`no call fails during ${rounds} rolling restarts`, () =>
      roll(nodes, callers),
    );
    await context.test("a backup through the pooler is whole, and no call fails meanwhile", () =>
      backUp(nodes, callers),
    );
    await context.test("when an API node and a worker are killed, their calls fail once", () =>
      kill(nodes, callers),
    );
    await context.test(
      "when the database is unavailable, streams continue and other calls get the reason",
      async () => {
        await nodes.postgres.kill();
        await delay(awayMs);
        await nodes.postgres.start();
        await assertExplained(callers);
      },
    );
    await context.test("a pooler that is killed and restarted has the same effect", async () => {
      await nodes.pgbouncer.restart();
      await assertExplained(callers);
    });
    await callers.untilAnswered();
    assert.deepEqual(countsOf(callers.takeFailures()), {}, "after all that");
  });
  context.diagnostic(JSON.stringify(callers.counts));

  for (const { name, service } of [...nodes.apis, ...nodes.workers]) {
    assert.equal(await service.stop(), 0, name);
    assert.doesNotMatch(service.output().errors, /"event":"(?:call|process)\.broken"/, name);
  }
  await fsckClean(nodes.apis[0].dataFolder, { DATABASE_URL: nodes.postgres.url });
});

async function mediaIsDown(nodes: Nodes, key: string): Promise<void> {
  const { haproxy, apis, workers } = nodes;
  const readyFor = async (node: NodeProcess, query: string): Promise<number> =>
    (await fetch(`${node.service.address}/readyz${query}`)).status;
  await nodes.withoutMedia(async () => {
    await until(async () => (await readyFor(workers[0], "?for=jobs")) === 503);
    await until(async () => (await readyFor(apis[0], "")) === 503);
    await silencePasses({ address: haproxy.address, key }, "grpc", 1_000);
    await nodes.untilReady();
  });
  await until(async () => (await readyFor(workers[0], "?for=jobs")) === 200);
}

async function silenceOutlasts(nodes: Nodes, key: string): Promise<void> {
  const short = { "90s": "2s", "1h": "2s" };
  await using quick = await nodes.openProxies({ haproxy: short, nginx: short });
  const targets = [quick.haproxy, quick.nginx].map(({ address }) => ({ address, key }));
  const doors = ["grpc", "WebSocket"] as const;
  await Promise.all(
    targets.flatMap((target) => doors.map((door) => silencePasses(target, door, 5_000))),
  );
}

/** Restarts each node in turn, a worker together with an API node. */
async function roll(nodes: Nodes, callers: Callers): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const at of [0, 1] as const) {
      await Promise.all([nodes.apis[at].restart(), nodes.workers[at].restart()]);
      await nodes.untilReady();
    }
  }
  await callers.untilAnswered();
  const stops = nodes.apis.length * rounds;
  const failures = Map.groupBy(callers.takeFailures(), ({ caller }) => caller.includes("nginx"));
  assert.deepEqual(countsOf(failures.get(false) ?? []), {});
  const ofNginx = failures.get(true) ?? [];
  assert.ok(ofNginx.length <= nginxFailuresMax * stops, JSON.stringify(countsOf(ofNginx)));
  for (const [caller, count] of callers.counter.handedOver) {
    assert.ok(count <= handoversMax * stops, `${caller}: ${count}`);
  }
}

async function backUp({ apis, pgbouncer }: Nodes, callers: Callers): Promise<void> {
  const [{ dataFolder }] = apis;
  const environment = { HLUST_DATA: dataFolder, DATABASE_URL: pgbouncer.url("postgres") };
  const made = await runHlust(["backup", join(dataFolder, "backups"), "--json"], environment);
  assert.equal(made.code, 0, made.errors);
  const { folder }: { readonly folder: string } = JSON.parse(made.out);
  const verified = await runHlust(["backup", "verify", folder], environment);
  assert.equal(verified.code, 0, `${verified.out}${verified.errors}`);
  await callers.untilAnswered();
  assert.deepEqual(countsOf(callers.takeFailures()), {});
}

async function kill({ apis, workers, untilReady }: Nodes, callers: Callers): Promise<void> {
  await Promise.all([apis[0].service.crash(), workers[0].service.crash()]);
  await callers.untilAnswered();
  await Promise.all([apis[0].start(), workers[0].start()]);
  await untilReady();
  await callers.untilAnswered();
  const counts = Map.groupBy(callers.takeFailures(), ({ caller }) => caller);
  for (const [caller, failures] of counts) {
    assert.ok(failures.length <= cutMax, JSON.stringify({ caller, failures }));
  }
}

/**
 * Asserts that no stream failed during an outage of something that the nodes depend on, and that
 * every other caller that failed got a retry delay.
 */
async function assertExplained(callers: Callers): Promise<void> {
  await callers.untilAnswered();
  const failures = callers.takeFailures();
  const live = new Set(callers.lives.map(({ name }) => name));
  assert.deepEqual(countsOf(failures.filter(({ caller }) => live.has(caller))), {});
  // A proxy may drop a refusal that arrives before the whole request has been sent.
  const broken = failures.filter(({ isExplained }) => !isExplained);
  assert.ok(broken.length <= 2 + failures.length / 4, JSON.stringify(countsOf(broken)));
}

/** Returns the number of occurrences of each failure. */
function countsOf(failures: readonly FailedCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { caller, problem } of failures) {
    const what = `${caller}: ${problem}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}
