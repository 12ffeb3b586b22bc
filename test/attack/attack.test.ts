// One account attacks a node that another one uses: the other notices nothing, and the process lives (docs/architecture.md, Attacks).
import { after, before, test } from "node:test";
import { attackAndJudge } from "./attack.ts";
import { compressedAttacks } from "./compressed.ts";
import { liveAttacks } from "./live.ts";
import { type NodeUnderAttack, openNodeUnderAttack } from "./node-under-attack.ts";
import { protocolAttacks } from "./protocol.ts";
import { repeatedAttacks } from "./repeated.ts";
import { stalledAttacks } from "./stalled.ts";
import { unreadAttacks } from "./unread.ts";

const all = process.env["ATTACK"] === "all";
const only = process.env["ATTACK_ONLY"] ?? "";

let node: NodeUnderAttack;
before(async () => {
  node = await openNodeUnderAttack();
});
after(() => node[Symbol.asyncDispose]());

for (const attack of [
  ...compressedAttacks,
  ...stalledAttacks,
  ...unreadAttacks,
  ...repeatedAttacks,
  ...liveAttacks,
  ...protocolAttacks,
]) {
  if ((!all && !attack.isInGate) || !new RegExp(only).test(attack.name)) continue;
  test(attack.name, { timeout: 170_000 }, async (t) => {
    await attackAndJudge(node, attack, (line) => t.diagnostic(line));
  });
}
