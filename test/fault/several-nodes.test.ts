// Two API nodes and two workers behind HAProxy and nginx with the configurations of docs/operations: what callers see of restarts, kills and outages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { FailedCall } from "./call-tally.ts";
import { Callers } from "./callers.ts";
import { chanceOf } from "./chance.ts";
import { fsckClean } from "./fsck-clean.ts";
import { openNodes } from "./open-nodes.ts";
import {
  bigUploadPasses,
  callerIsSeen,
  longStreamPasses,
  pageSocketOpens,
  silencePasses,
} from "./proxy-probes.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const rounds = Number(process.env["FAULT_ROUNDS"] ?? 3);
const awayMs = Number(process.env["FAULT_AWAY_MS"] ?? 2_000);
/** A caller whose call is cut may meet the dead node once more, before the proxy knows. */
const cutMax = 2;
/** A stream is ended by a stop of its node; nginx, which has no health checks, may bring its caller back there once more. */
const stopsMax = 2;
const timeout = 600_000;

test(`several nodes behind proxies (FAULT_SEED=${seed})`, { timeout }, async (context) => {
  await using nodes = await openNodes();
  const { apis, workers, postgres, haproxy, nginx } = nodes;
  const { key } = apis[0].service;
  const proxies = [
    { name: "HAProxy", address: haproxy.address },
    { name: "nginx", address: nginx.address },
  ];

  await context.test("HAProxy finds every node ready by its checks", () => nodes.untilReady());

  for (const { name, address } of proxies) {
    await context.test(`what ${name} might spoil passes`, async () => {
      const target = { address, key };
      await bigUploadPasses(target);
      await longStreamPasses(target);
      await pageSocketOpens(target);
      await callerIsSeen(target, nodes.otherCaller);
    });
  }

  await context.test("silent streams outlast every time limit of the proxies", async () => {
    await using quick = await nodes.openProxies({
      haproxy: { "90s": "2s", "1h": "2s" },
      nginx: { "90s": "2s", "1h": "2s" },
    });
    const targets = [quick.haproxy, quick.nginx].map(({ address }) => ({ address, key }));
    const doors = ["grpc", "WebSocket"] as const;
    await Promise.all(
      targets.flatMap((target) => doors.map((door) => silencePasses(target, door, 5_000))),
    );
  });

  const callers = new Callers({ proxies, key }, chanceOf(seed));
  await callers.during(async () => {
    await context.test(`${rounds} rolling restarts: no call fails`, async () => {
      await callers.untilAnswered();
      for (let round = 0; round < rounds; round += 1) {
        for (const [api, worker] of [
          [apis[0], workers[0]],
          [apis[1], workers[1]],
        ] as const) {
          await Promise.all([api.restart(), worker.restart()]);
          await nodes.untilReady();
        }
      }
      await callers.untilAnswered();
      assert.deepEqual(countsOf(callers.takeFailures()), {});
      for (const [caller, count] of callers.tally.handedOver) {
        assert.ok(count <= stopsMax * 2 * rounds, `${caller}: ${count}`);
      }
    });

    await context.test(
      "an API node and a worker are killed: their calls are cut, once",
      async () => {
        await Promise.all([apis[0].service.crash(), workers[0].service.crash()]);
        await callers.untilAnswered();
        await Promise.all([apis[0].start(), workers[0].start()]);
        await nodes.untilReady();
        await callers.untilAnswered();
        const counts = Map.groupBy(callers.takeFailures(), ({ caller }) => caller);
        for (const [caller, { length }] of counts)
          assert.ok(length <= cutMax, `${caller}: ${length}`);
      },
    );

    await context.test(
      "the database is away: streams go on, other calls are told why",
      async () => {
        await postgres.kill();
        await delay(awayMs);
        await postgres.start();
        await callers.untilAnswered();
        const failures = callers.takeFailures();
        assert.ok(failures.length > 0);
        const live = new Set(callers.lives.map(({ name }) => name));
        const bad = failures.filter((failure) => !failure.isExplained || live.has(failure.caller));
        assert.deepEqual(countsOf(bad), {});
      },
    );
    await callers.untilAnswered();
    assert.deepEqual(countsOf(callers.takeFailures()), {}, "after all that");
  });

  context.diagnostic(JSON.stringify(callers.counts));
  for (const node of [...apis, ...workers]) {
    const { service } = node;
    assert.equal(await service.stop(), 0, node.name);
    assert.doesNotMatch(service.output().errors, /"event":"(call|process)\.broken"/, node.name);
  }
  await fsckClean(apis[0].dataFolder, { DATABASE_URL: postgres.url });
});

/** How often each failure came. */
function countsOf(failures: readonly FailedCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { caller, problem } of failures) {
    const what = `${caller}: ${problem}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}
