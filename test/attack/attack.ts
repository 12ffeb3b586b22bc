import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Figures, figuresOf, type Window } from "./figures.ts";
import { memoryMb, type NodeUnderAttack } from "./node-under-attack.ts";
import { watchOtherLoad } from "./other-load.ts";

/** An attack by one account on a node that others use. */
export interface Attack {
  readonly name: string;
  /**
   * Whether the attack, as the worst of its kind, is part of the gate. All attacks run with
   * ATTACK=all (`npm run test:attack`).
   */
  readonly isInGate: boolean;
  /**
   * Prepares the attack, and resolves to a function that carries out the attack and resolves to the
   * service's response.
   */
  readonly prepare: (node: NodeUnderAttack) => Promise<() => Promise<string>>;
}

/** The minimum duration of an attack, which is repeated until then. */
const attackMsMin = 1_500;
const quietMs = 1_500;
const settleMs = 200;
const wordMsMax = 30_000;
/**
 * The number of attempts. Other tests run at the same time, so there are several attempts, of which
 * at least one should not be slowed down.
 */
const attemptsMax = 3;

/** The maximum response time of /healthz. */
const healthMsMax = 100;
/** The maximum ratio of the other account's p99 during an attack to its p99 without an attack. */
const slowdownMax = 2;
/** The time that calls may take during an attack if they are fast without one. */
const unnoticedMs = 100;
/**
 * With `npm run test:attack`, nothing else runs. The gate runs other tests concurrently, so the
 * available CPU varies.
 */
const hasMachine = process.env["ATTACK"] === "all";
/**
 * If other processes use more of the machine than this, in cores, measured times do not describe
 * the service.
 */
const otherCoresMax = 0.3;
/**
 * Attacks a node. Fails if the process ends or uses too much memory, if a call of the other account
 * fails, or if the main thread works for `healthMsMax` while a request to /healthz waits. The times
 * of calls are compared with those without an attack if the machine does nothing else; otherwise
 * they are only reported.
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
    // In the gate, times are not compared with those of a service that is not attacked.
    await sleep(hasMachine ? quietMs : settleMs);
    const alone = figuresOf(await node.seen());
    const run = await prepare(node);
    await node.seen();
    const answers = await attackFor(run);
    const attacked = figuresOf(await seenAfterwards(node));
    const otherCores = otherLoad();
    report(`${name}: ${[...answers].join(" | ").slice(0, 1_000)}`);
    if (hasMachine) report(`alone ${lineOf(alone)}`);
    report(`attacked ${lineOf(attacked)}${node.isLost ? "; ENDED" : ""}`);
    const isQuiet = hasMachine && otherCores < otherCoresMax;
    if (!isQuiet)
      report(`times are not checked: other processes used ${otherCores.toFixed(1)} cores`);
    const worst = lasting(attacked, answers, node.isLost);
    const held = heldIn(attacked);
    heldTooLong += held.length;
    const troubles = [...worst, ...held, ...(isQuiet ? passing(alone, attacked) : [])];
    if (troubles.length === 0) return;
    if (worst.length > 0 || heldTooLong > attemptsMax / 2 || attempts === attemptsMax) {
      // A failure must not affect the next attack.
      await node.restart();
      assert.fail(troubles.join("\n"));
    }
  }
}

/**
 * Returns the samples since the attack, including calls that waited for the attack to end. There
 * must be at least one word of live audio.
 */
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

/** Returns the failures that a busy machine does not explain. */
function lasting(attacked: Figures, answers: ReadonlySet<string>, isLost: boolean): string[] {
  const broken = [...answers].filter((text) => /(?:^|\n)500|grpc-status (?:13|2) /.test(text));
  return [
    ...(isLost ? ["the process has ended"] : []),
    ...(attacked.liveMs === 0 ? ["no word of another account's live audio was returned"] : []),
    ...attacked.failures.map((failure) => `another account's call failed: ${failure}`),
    ...(attacked.rssMb > memoryMb ? [`${attacked.rssMb} MB of memory, over ${memoryMb}`] : []),
    ...broken.map((text) => `answered as a bug of the service: ${text.slice(0, 200)}`),
  ];
}

/**
 * Returns a failure if the main thread delayed /healthz for too long. One attempt in three may
 * contain the garbage collector's longest mark, or a time in which another process used the core;
 * two may not.
 */
function heldIn({ heldMs }: Figures): string[] {
  if (heldMs <= healthMsMax) return [];
  return [`/healthz waited for ${heldMs} ms of the main thread's work, over ${healthMsMax}`];
}

/** Returns the failures that another process on the machine may have caused. */
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
