// One account attacks a node that another account uses. The attack must not affect the other
// account, and the process must survive (docs/architecture.md, Attacks).
import { after, before, describe, test } from "node:test";
import { attackAndJudge } from "./attack.ts";
import { compressedAttacks } from "./compressed.ts";
import { liveAttacks } from "./live.ts";
import { type NodeUnderAttack, openNodeUnderAttack } from "./node-under-attack.ts";
import { protocolAttacks } from "./protocol.ts";
import { repeatedAttacks } from "./repeated.ts";
import { stalledAttacks } from "./stalled.ts";
import { unreadAttacks } from "./unread.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const all = process.env["ATTACK"] === "all";
const only = process.env["ATTACK_ONLY"] ?? "";

let node: NodeUnderAttack;
/** Whether the node has just been started. */
let isFresh = true;
before(async () => {
  node = await openNodeUnderAttack();
});
after(() => node[Symbol.asyncDispose]());

const tables = {
  compressed: compressedAttacks,
  stalled: stalledAttacks,
  unread: unreadAttacks,
  repeated: repeatedAttacks,
  live: liveAttacks,
  protocol: protocolAttacks,
};

for (const [kind, attacks] of Object.entries(tables)) {
  const wanted = attacks.filter(
    ({ name, isInGate }) => (all || isInGate) && new RegExp(only).test(name),
  );
  if (wanted.length === 0) continue;
  describe(kind, () => {
    // The node restarts for each kind of attack, since the memory of other attacks must not count.
    before(async () => {
      if (!isFresh) await node.restart();
      isFresh = false;
    });
    for (const attack of wanted) {
      test(attack.name, { timeout: 170_000 * cpuSlowness }, async (t) => {
        await attackAndJudge(node, attack, (line) => t.diagnostic(line));
      });
    }
  });
}
