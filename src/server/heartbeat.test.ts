import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../test/fixtures/until.ts";
import { Heartbeat } from "./heartbeat.ts";

test("Heartbeat calls each member once per interval, with calls spread over the interval, until the member is removed", async () => {
  const heartbeat = new Heartbeat(100);
  const beats = Array.from({ length: 40 }, () => 0);
  const members = beats.map((_, at) => ({ beat: () => void (beats[at] = (beats[at] ?? 0) + 1) }));
  for (const member of members) heartbeat.add(member);
  await until(() => Promise.resolve(beats.some((count) => count === 1)));
  assert.ok(
    beats.some((count) => count === 0),
    "all at the same moment",
  );
  await until(() => Promise.resolve(beats.every((count) => count >= 3)));
  assert.ok(Math.max(...beats) - Math.min(...beats) <= 1, beats.join());
  for (const member of members) heartbeat.remove(member);
  const [first] = members;
  if (first) heartbeat.remove(first);
  const before = beats.join();
  await delay(150);
  assert.equal(beats.join(), before);
});
