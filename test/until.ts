import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits until it holds; an error, of a file or server not yet there, means not yet. Fails after msMax. */
export async function until(condition: () => Promise<boolean>, msMax = 20_000): Promise<void> {
  const giveUpAt = performance.now() + msMax;
  while (!(await condition().catch(() => false))) {
    assert.ok(performance.now() < giveUpAt, `not within ${msMax} ms: ${condition.toString()}`);
    await sleep(5);
  }
}
