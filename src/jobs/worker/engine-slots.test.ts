import assert from "node:assert/strict";
import { test } from "node:test";
import { EngineSlots } from "./engine-slots.ts";

const { signal } = new AbortController();
const jobOf = (accountId: string, id: string) => ({ accountId, id });

/**
 * Makes pieces wait for slots, each named by its account and job. `next()` ends the piece that
 * began first.
 */
function openLine(count: number) {
  const slots = new EngineSlots(count);
  const order: string[] = [];
  const running: (() => void)[] = [];
  const turn = () => new Promise(setImmediate);
  return {
    order,
    async ask(...names: readonly string[]) {
      for (const name of names) {
        const [accountId = "", id = ""] = name.split("");
        void slots.take(jobOf(accountId, id), signal).then((release) => {
          order.push(name);
          running.push(release);
        });
      }
      await turn();
    },
    async next(count = 1) {
      for (let i = 0; i < count; i++) {
        const release = running.shift();
        release?.();
        release?.();
        await turn();
      }
    },
  };
}

test("`EngineSlots` admits as many pieces as there are slots, the oldest job of an account first", async () => {
  const line = openLine(2);
  await line.ask("a3", "a4", "a2", "a1", "a2");
  assert.deepEqual(line.order, ["a3", "a4"]);
  await line.next();
  assert.deepEqual(line.order, ["a3", "a4", "a1"]);
  await line.next(4);
  assert.deepEqual(line.order, ["a3", "a4", "a1", "a2", "a2"]);
});

test("`EngineSlots` gives the next slot to the account that holds the fewest slots", async () => {
  const line = openLine(3);
  await line.ask("a1", "a1", "a1", "a1", "a1", "a1", "b9", "b9");
  await line.next();
  assert.equal(line.order.at(-1), "b9");
  await line.next(6);
  assert.equal(line.order.join(" "), "a1 a1 a1 b9 a1 b9 a1 a1");
});

test("`EngineSlots` gives a single slot to one account after the other", async () => {
  const line = openLine(1);
  await line.ask("a1", "a1", "a1", "b2", "b2", "c3", "c3", "d4");
  await line.next(7);
  assert.equal(line.order.join(" "), "a1 b2 c3 d4 a1 b2 c3 a1");
});

test("`EngineSlots` rejects a wait with the signal's reason, and loses no slot", async () => {
  const slots = new EngineSlots(1);
  const one = jobOf("a", "1");
  const abort = new AbortController();
  const release = await slots.take(one, abort.signal);
  const aborted = slots.take(one, abort.signal);
  const waiting = slots.take(jobOf("a", "2"), signal);
  const reason = new Error("enough");
  abort.abort(reason);
  await assert.rejects(aborted, reason);
  await assert.rejects(slots.take(one, abort.signal), reason);
  release();
  assert.equal(typeof (await waiting), "function");
});

test("`EngineSlots` keeps its order when a wait ends and is aborted at the same moment", async () => {
  const slots = new EngineSlots(1);
  const one = jobOf("a", "1");
  const abort = new AbortController();
  const release = await slots.take(one, signal);
  const first = slots.take(one, abort.signal);
  const second = slots.take(one, signal);
  release();
  abort.abort(new Error("enough"));
  (await first)();
  assert.equal(typeof (await second), "function");
});

test("`EngineSlots` lists the jobs that only wait, in the order of their turns", async () => {
  const slots = new EngineSlots(2);
  const [a1, a2, a3, b4] = [jobOf("a", "1"), jobOf("a", "2"), jobOf("a", "3"), jobOf("b", "4")];
  const held = await Promise.all([slots.take(a1, signal), slots.take(a1, signal)]);
  assert.equal(slots.free, 0);
  const abort = new AbortController();
  const takes = [slots.take(a1, signal), slots.take(a3, signal)];
  const waiting = [...takes, slots.take(a2, abort.signal), slots.take(b4, signal)];
  assert.deepEqual(slots.waitingFor(0), ["4", "2", "3"], "the first job also holds slots");
  assert.deepEqual(slots.waitingFor(60_000), []);
  abort.abort(new Error("enough"));
  await assert.rejects(waiting[2] ?? Promise.resolve(), /enough/);
  assert.deepEqual(slots.waitingFor(0), ["4", "3"]);
  held[0]();
  assert.deepEqual(slots.waitingFor(0), ["3"]);
  held[1]();
  assert.deepEqual(slots.waitingFor(0), ["3"], "the older one comes first, and holds one now");
  (await waiting[0])?.();
  (await waiting[3])?.();
  await waiting[1];
  assert.equal(slots.free, 1);
});
