import assert from "node:assert/strict";
import { test } from "node:test";
import { ReadingTurns } from "./reading-turns.ts";

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("messages are read one at a time, and other events are processed between them", async () => {
  const turns = new ReadingTurns();
  const read: string[] = [];
  let events = 0;
  const between: number[] = [];
  const looking = setInterval(() => (events += 1), 1);
  const one = async (account: string) => {
    await turns.take(account);
    between.push(events);
    read.push(account);
    work(10);
  };
  await Promise.all([...["many", "many", "many", "many"].map(one), one("other"), one("third")]);
  clearInterval(looking);
  assert.deepEqual(read, ["many", "many", "other", "third", "many", "many"]);
  assert.equal(new Set(between).size, read.length, "another event ran between each two");
});

test("a single long message is read without waiting", async () => {
  const turns = new ReadingTurns();
  let isRead = false;
  void turns.take("one").then(() => (isRead = true));
  await Promise.resolve();
  await Promise.resolve();
  assert.ok(isRead);
});
