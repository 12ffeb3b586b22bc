import assert from "node:assert/strict";
import { test } from "node:test";
import { PieceSlots } from "./piece-slots.ts";

const { signal } = new AbortController();
const jobOf = (accountId: string, jobId: string) => ({ accountId, jobId });

/**
 * Lets pieces wait for slots, each named by its account and job; `next()` ends the one that began
 * first.
 */
function openLine(count: number) {
  const slots = new PieceSlots(count);
  const order: string[] = [];
  const running: (() => void)[] = [];
  const turn = () => new Promise(setImmediate);
  return {
    order,
    async ask(...names: readonly string[]) {
      for (const name of names) {
        const [accountId = "", jobId = ""] = name.split("");
        void slots
          .of(jobOf(accountId, jobId))
          .take(signal)
          .then((giveBack) => {
            order.push(name);
            running.push(giveBack);
          });
      }
      await turn();
    },
    async next(count = 1) {
      for (let i = 0; i < count; i++) {
        const giveBack = running.shift();
        giveBack?.();
        giveBack?.();
        await turn();
      }
    },
  };
}

test("`PieceSlots` lets so many in at a time, the oldest job of an account first", async () => {
  const line = openLine(2);
  await line.ask("a3", "a4", "a2", "a1", "a2");
  assert.deepEqual(line.order, ["a3", "a4"]);
  await line.next();
  assert.deepEqual(line.order, ["a3", "a4", "a1"]);
  await line.next(4);
  assert.deepEqual(line.order, ["a3", "a4", "a1", "a2", "a2"]);
});

test("`PieceSlots` gives the next slot to the account that holds the fewest", async () => {
  const line = openLine(3);
  await line.ask("a1", "a1", "a1", "a1", "a1", "a1", "b9", "b9");
  await line.next();
  assert.equal(line.order.at(-1), "b9");
  await line.next(6);
  assert.equal(line.order.join(" "), "a1 a1 a1 b9 a1 b9 a1 a1");
});

test("`PieceSlots` goes round between accounts where there is one slot", async () => {
  const line = openLine(1);
  await line.ask("a1", "a1", "a1", "b2", "b2", "c3", "c3", "d4");
  await line.next(7);
  assert.equal(line.order.join(" "), "a1 b2 c3 d4 a1 b2 c3 a1");
});

test("`PieceSlots` lets who waits go with the reason of the signal, without losing a slot", async () => {
  const slots = new PieceSlots(1);
  const one = slots.of(jobOf("a", "1"));
  const abort = new AbortController();
  const giveBack = await one.take(abort.signal);
  const impatient = one.take(abort.signal);
  const patient = slots.of(jobOf("a", "2")).take(signal);
  const reason = new Error("enough");
  abort.abort(reason);
  await assert.rejects(impatient, reason);
  await assert.rejects(one.take(abort.signal), reason);
  giveBack();
  assert.equal(typeof (await patient), "function");
});

test("`PieceSlots` keeps its line when one is let in and gives up in the same moment", async () => {
  const slots = new PieceSlots(1);
  const one = slots.of(jobOf("a", "1"));
  const abort = new AbortController();
  const giveBack = await one.take(signal);
  const first = one.take(abort.signal);
  const second = one.take(signal);
  giveBack();
  abort.abort(new Error("enough"));
  (await first)();
  assert.equal(typeof (await second), "function");
});

test("`PieceSlots` tells which jobs only wait, the next one first", async () => {
  const slots = new PieceSlots(2);
  const [a1, a2, a3] = ["1", "2", "3"].map((jobId) => slots.of(jobOf("a", jobId)));
  const b4 = slots.of(jobOf("b", "4"));
  assert.ok(a1 && a2 && a3);
  const held = await Promise.all([a1.take(signal), a1.take(signal)]);
  assert.equal(slots.free, 0);
  const abort = new AbortController();
  const waiting = [a1.take(signal), a3.take(signal), a2.take(abort.signal), b4.take(signal)];
  assert.deepEqual(slots.standing(0), ["4", "2", "3"], "the first has slots besides");
  assert.deepEqual(slots.standing(60_000), []);
  assert.deepEqual(
    [a1, a2, b4].map(({ hasBegun }) => hasBegun),
    [true, false, false],
  );
  abort.abort(new Error("enough"));
  await assert.rejects(waiting[2] ?? Promise.resolve(), /enough/);
  assert.deepEqual(slots.standing(0), ["4", "3"]);
  held[0]();
  assert.deepEqual(slots.standing(0), ["3"]);
  assert.equal(b4.hasBegun, true);
  held[1]();
  assert.deepEqual(slots.standing(0), ["3"], "the older one comes first, and holds one now");
  (await waiting[0])?.();
  (await waiting[3])?.();
  await waiting[1];
  assert.equal(slots.free, 1);
});
