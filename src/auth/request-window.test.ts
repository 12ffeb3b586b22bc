import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RequestWindow } from "./request-window.ts";

const minuteMs = 60_000;
const start = 29_000_000 * minuteMs;

/** Returns a window with these numbers of calls at these times. */
function windowOf(...calls: readonly (readonly [ms: number, count: number])[]): RequestWindow {
  const window = new RequestWindow();
  for (const [ms, count] of calls) for (let i = 0; i < count; i++) window.count(start + ms);
  return window;
}

test("a window counts all calls of this minute and the share of the previous minute that is less than 60 s old", () => {
  const rows: [calls: readonly (readonly [number, number])[], at: number, used: number][] = [
    [[], 0, 0],
    [[[0, 4]], 0, 4],
    [[[0, 4]], minuteMs - 1, 4],
    [[[30_000, 4]], minuteMs, 4],
    [[[30_000, 4]], minuteMs + 15_000, 3],
    [[[30_000, 4]], minuteMs + 30_000, 2],
    [[[30_000, 4]], 2 * minuteMs, 0],
    [[[30_000, 4]], 20 * minuteMs, 0],
    [
      [
        [30_000, 4],
        [minuteMs + 1, 7],
      ],
      minuteMs + 45_000,
      8,
    ],
    // The clock is set back by a little.
    [[[minuteMs + 5, 4]], minuteMs - 5, 4],
    // If the clock is set back a lot, the window starts over.
    [[[10 * minuteMs, 4]], 0, 0],
  ];
  for (const [calls, at, used] of rows) {
    assert.equal(windowOf(...calls).used(start + at), used, JSON.stringify([calls, at]));
  }
});

test("the counts of all nodes replace the node's own", () => {
  const window = windowOf([0, 3]);
  window.set({ minute: start / minuteMs, requests: 10, previous: 20 });
  assert.equal(window.used(start + 30_000), 20);
  window.count(start + 30_000);
  assert.equal(window.used(start + minuteMs + 30_000), 5.5);
});

const steps = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 9 })), { maxLength: 60 });

test("at most twice the limit is admitted in any 60 s, and on average at most the limit", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), steps, (max, gaps) => {
      const window = new RequestWindow();
      const admitted: number[] = [];
      let now = start;
      for (const [gap, calls] of gaps) {
        now += gap;
        for (let i = 0; i < calls; i++) {
          if (window.waitMs(max, now) > 0) continue;
          window.count(now);
          admitted.push(now);
        }
      }
      for (const first of admitted) {
        const within = admitted.filter((at) => at >= first && at < first + minuteMs).length;
        assert.ok(within <= 2 * max, `${within} of ${max}`);
      }
      const minutes = (now - start) / minuteMs;
      assert.ok(admitted.length <= max * (minutes + 2), `${admitted.length} in ${minutes} min`);
    }),
  );
});

test("a caller who used the only call of a minute as it began waits two minutes at most", () => {
  const window = windowOf([0, 1]);
  assert.equal(window.waitMs(1, start), 2 * minuteMs);
  assert.ok(window.waitMs(1, start + 2 * minuteMs - 1) > 0);
  assert.equal(window.waitMs(1, start + 2 * minuteMs), 0);
});

test("a caller is admitted after the wait that the window returns, and not before", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), steps, (max, gaps) => {
      const window = new RequestWindow();
      let now = start;
      for (const [gap, calls] of gaps) {
        now += gap;
        for (let i = 0; i < calls; i++) window.count(now);
      }
      const waitMs = window.waitMs(max, now);
      if (waitMs === 0) return;
      assert.ok(waitMs <= 2 * minuteMs);
      assert.ok(window.waitMs(max, now + waitMs - 3) > 0, "3 ms before");
      assert.equal(window.waitMs(max, now + waitMs), 0);
    }),
  );
});
