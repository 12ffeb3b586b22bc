import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Figures, figuresOf, type Window } from "./figures.ts";
import { memoryMb, type NodeUnderAttack } from "./node-under-attack.ts";
import { watchOtherLoad } from "./other-load.ts";

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
const quietMs = 1_500;
const settleMs = 200;
const wordMsMax = 30_000;
/** Other tests run at the same time: one of a few attempts is not slowed by them. */
const attemptsMax = 3;

/** The wait for /healthz. */
const healthMsMax = 100;
/** The other account's p99 in terms of what it is alone. */
const slowdownMax = 2;
/** What is quick without an attack may take this long during one. */
const unnoticedMs = 100;
/**
 * With `npm run test:attack` nothing else runs; the gate runs other tests at the same time, whose
 * the available CPU varies.
 */
const hasMachine = process.env["ATTACK"] === "all";
/**
 * Where other processes take more of the machine, in cores, how long something took says nothing
 * about the service.
 */
const otherCoresMax = 0.3;
/**
 * Attacks a node; fails where the process is lost or too large, a call of the other account fails,
 * or its main thread worked for this long while /healthz waited. How long calls took is judged
 * against what they take alone, where the machine has nothing else to do: else it is only reported.
 */
export async function attackAndJudge(
  node: NodeUnderAttack,
  { name, prepare }: Attack,
  report: (line: string) => void,
): Promise<void> {
  let heldTooLong = 0;
  for (let attempts = 1; ; attempts += 1) {
    if (node.isLost) await node.restart();
    const otherLoad = watchOtherLoad(node.dataFolder);
    await node.seen();
    await sleep(quietMs);
    const alone = figuresOf(await node.seen());
    const run = await prepare(node);
    await node.seen();
    const answers = await attackFor(run);
    const attacked = figuresOf(await seenAfterwards(node));
    const otherCores = otherLoad();
    report(`${name}: ${[...answers].join(" | ").slice(0, 1_000)}`);
    report(`alone ${lineOf(alone)}; attacked ${lineOf(attacked)}${node.isLost ? "; LOST" : ""}`);
    const isQuiet = hasMachine && otherCores < otherCoresMax;
    if (!isQuiet) report(`waits are not judged: others took ${otherCores.toFixed(1)} cores`);
    const worst = lasting(attacked, answers, node.isLost);
    const held = heldIn(attacked);
    heldTooLong += held.length;
    const troubles = [...worst, ...held, ...(isQuiet ? passing(alone, attacked) : [])];
    if (troubles.length === 0) return;
    if (worst.length > 0 || heldTooLong > attemptsMax / 2 || attempts === attemptsMax) {
      // The next attack must not suffer for it.
      await node.restart();
      assert.fail(troubles.join("\n"));
    }
  }
}

/** Also what the attack has made wait until now: at least a word of live audio is waited for. */
async function seenAfterwards(node: NodeUnderAttack): Promise<Window> {
  await sleep(settleMs);
  const all = await node.seen();
  const giveUpAt = performance.now() + wordMsMax;
  while (all.live.length === 0 && !node.isLost && performance.now() < giveUpAt) {
    await sleep(settleMs);
    const { health, calls, live, failures, rssKbMax } = await node.seen();
    all.health.push(...health);
    all.calls.push(...calls);
    all.live.push(...live);
    all.failures.push(...failures);
    all.rssKbMax = Math.max(all.rssKbMax, rssKbMax);
  }
  return all;
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
    ...(attacked.liveMs === 0 ? ["no word of another account's live audio came"] : []),
    ...attacked.failures.map((failure) => `another account's call failed: ${failure}`),
    ...(attacked.rssMb > memoryMb ? [`${attacked.rssMb} MB of memory, over ${memoryMb}`] : []),
    ...broken.map((text) => `answered as a bug of the service: ${text.slice(0, 200)}`),
  ];
}

/**
 * One try of three may have the garbage collector's longest mark in it, or a core that is shared:
 * two may not.
 */
function heldIn({ heldMs }: Figures): string[] {
  if (heldMs <= healthMsMax) return [];
  return [`/healthz waited for ${heldMs} ms of the main thread's work, over ${healthMsMax}`];
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
