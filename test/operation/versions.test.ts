// An earlier version and this one on the same database, under load: an upgrade, and the way back.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { unpackVersionBefore } from "../fixtures/version-before.ts";
import { RetryingCallers } from "../fault/retrying-callers.ts";
import { openRollingNodes, type RollingNode } from "../fault/rolling-nodes.ts";

/** The calls that are answered between two restarts. */
const callsBetween = 20;

test("a version runs next to the one before it, and that one can be started again", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-before-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const before = await unpackVersionBefore(join(folder, "before"));
  if (before.missing !== undefined) return context.skip(before.missing);
  await using opened = await openRollingNodes(2, before.program);
  const { nodes, postgres, key } = opened;
  const [first = assert.fail("no node")] = nodes;
  const landed = async () => (await postgres.query("select from kysely_migration")).length;
  const early = await landed();
  const callers = new RetryingCallers(
    nodes.map(({ address }) => address),
    key,
  );
  await callers.during(async () => {
    await callers.untilAnswered(callsBetween);
    for (const node of nodes) await replace(node, callers);
    const late = await landed();
    context.diagnostic(`${before.commit}: ${early} migrations, then ${late}`);
    // The way back begins while the other node still runs this version.
    await replace(first, callers, before.program);
    assert.equal(await landed(), late, "the earlier version changes no schema");
  });
  report(context, callers);
  assert.deepEqual(callers.failures, []);
});

/** Restarts a node with a program, while the other nodes answer calls. */
async function replace(
  node: RollingNode,
  callers: RetryingCallers,
  program?: string,
): Promise<void> {
  assert.equal(await node.stop(), 0, node.service.output().errors);
  await node.start(program);
  await callers.untilAnswered(callsBetween);
}

function report(context: TestContext, { answered, retried, failures }: RetryingCallers): void {
  context.diagnostic(`${answered} calls, ${retried} of them retried, ${failures.length} failed`);
}
