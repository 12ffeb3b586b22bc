import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits until it holds; an error, of a file or server not yet there, means not yet. Fails after msMax. */
export async function until(condition: () => Promise<boolean>, msMax = 20_000): Promise<void> {
  const giveUpAt = performance.now() + msMax;
  for (;;) {
    const startMs = performance.now();
    if (await condition().catch(() => false)) return;
    const nowMs = performance.now();
    assert.ok(nowMs < giveUpAt, `not within ${msMax} ms: ${condition.toString()}`);
    await sleep(pauseMsAfter(nowMs - startMs));
  }
}

/** How long to wait after a look that took so long: looking is not what the machine is for. */
export function pauseMsAfter(lookMs: number): number {
  return Math.min(250, Math.max(5, 9 * lookMs));
}

/** Tries what may take so long until it once does: the machine may be busy with something else meanwhile. `take` answers how long it took. */
export async function onceWithin(msMax: number, take: () => Promise<number>): Promise<void> {
  const tookMs: number[] = [];
  while (tookMs.length < 3) {
    const ms = Math.round(await take());
    if (ms < msMax) return;
    tookMs.push(ms);
  }
  assert.fail(`never within ${msMax} ms: ${tookMs.join(", ")}`);
}

/** What `promise` brings; fails by the name of what was asked for where it takes longer: for what has no limit of its own. */
export async function within<T>(what: string, promise: Promise<T>, msMax = 30_000): Promise<T> {
  const answered = new AbortController();
  const { signal } = answered;
  const tooLong = sleep(msMax, undefined, { signal }).then(() =>
    assert.fail(`not within ${msMax} ms: ${what}`),
  );
  // Once it has answered nobody waits for that.
  tooLong.catch(() => {});
  return await Promise.race([promise, tooLong]).finally(() => answered.abort());
}
