import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Figures, figuresOf } from "./figures.ts";
import type { NodeUnderAttack } from "./node-under-attack.ts";

/** What one account does to a node that others use. */
export interface Attack {
  readonly name: string;
  /** Part of the gate: the worst of its kind. All run with ATTACK=all (`npm run test:attack`). */
  readonly isInGate: boolean;
  /** Makes what the attack needs; what it gives is the attack, and says how it was answered. */
  readonly prepare: (node: NodeUnderAttack) => Promise<() => Promise<string>>;
}

/** An attack lasts at least this long: a single call is made again. */
const attackMsMin = 1_500;
const quietMs = 2_000;
const settleMs = 200;
/** Other tests run beside this one: of a few tries one is not slower by them. */
const triesMax = 3;

/** §4.4 of the issue: the wait for /healthz. */
const healthMsMax = 100;
/** §4.4: the other account's p99 in terms of what it is alone. */
const slowdownMax = 2;
/** Under it nobody notices: what is quick alone may take this long. */
const unnoticedMs = 100;
/** Of the service's process: its heap of node-under-attack.ts, and what is beside it. */
export const rssMbMax = 1_536;

/**
 * Attacks a node, and says how its other account fares: see `trouble`. Where the machine may be to blame it is tried again, alone
 * and attacked.
 */
export async function attackAndJudge(
  node: NodeUnderAttack,
  { name, prepare }: Attack,
  tell: (line: string) => void,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    if (node.isLost) await node.restart();
    await node.seen();
    await sleep(quietMs);
    const alone = figuresOf(await node.seen());
    const run = await prepare(node);
    await node.seen();
    const answers = await attackFor(run);
    await sleep(settleMs);
    const attacked = figuresOf(await node.seen());
    tell(`${name}: ${[...answers].join(" | ").slice(0, 1_000)}`);
    tell(`alone ${lineOf(alone)}; attacked ${lineOf(attacked)}${node.isLost ? "; LOST" : ""}`);
    const troubles = [...lasting(attacked, answers, node.isLost), ...passing(alone, attacked)];
    if (troubles.length === 0) return;
    const isLasting = lasting(attacked, answers, node.isLost).length > 0;
    if (isLasting || tries === triesMax) {
      // What comes next is not to suffer for it.
      await node.restart();
      assert.fail(troubles.join("\n"));
    }
  }
}

async function attackFor(run: () => Promise<string>): Promise<Set<string>> {
  const answers = new Set<string>();
  const endsAt = performance.now() + attackMsMin;
  do answers.add(await run());
  while (performance.now() < endsAt);
  return answers;
}

/** What no busy machine explains. */
function lasting(attacked: Figures, answers: ReadonlySet<string>, isLost: boolean): string[] {
  const broken = [...answers].filter((text) => /(?:^|\n)500|grpc-status (?:13|2) /.test(text));
  return [
    ...(isLost ? ["the process is lost"] : []),
    ...attacked.failures.map((failure) => `another account's call failed: ${failure}`),
    ...(attacked.rssMb > rssMbMax ? [`${attacked.rssMb} MB of memory, over ${rssMbMax}`] : []),
    ...(attacked.heldMs > healthMsMax
      ? [`/healthz waited for ${attacked.heldMs} ms of the main thread's work, over ${healthMsMax}`]
      : []),
    ...broken.map((text) => `answered as a bug of the service: ${text.slice(0, 200)}`),
  ];
}

/** What another process on the machine may have done. */
function passing(alone: Figures, attacked: Figures): string[] {
  const rows = [
    ["/healthz", attacked.healthMs, Math.max(healthMsMax, slowdownMax * alone.healthMs)],
    ["calls", attacked.callsMs, Math.max(unnoticedMs, slowdownMax * alone.callsMs)],
    ["live words", attacked.liveMs, Math.max(unnoticedMs, slowdownMax * alone.liveMs)],
  ] as const;
  return rows
    .filter(([, ms, msMax]) => ms > msMax)
    .map(([what, ms, msMax]) => `the p99 of another account's ${what} is ${ms} ms, over ${msMax}`);
}

function lineOf({ healthMs, heldMs, heldMsMax, callsMs, liveMs, rssMb }: Figures): string {
  const held = `held ${heldMs} (longest ${Math.round(heldMsMax)})`;
  return `health ${healthMs} ms, ${held}, calls ${callsMs}, live ${liveMs}, ${rssMb} MB`;
}
