import assert from "node:assert/strict";
import { test } from "node:test";
import { createReadiness } from "./health.ts";

test("createReadiness() asks every part, and is ready when each is", async () => {
  const parts = { a: true, b: true };
  let now = 0;
  const check = (name: keyof typeof parts) => ({
    name,
    check: () =>
      parts[name] ? Promise.resolve({ name }) : Promise.reject(new Error("secret of the part")),
  });
  const readiness = createReadiness([check("a"), check("b")], () => now);
  assert.deepEqual(await readiness(), {
    isReady: true,
    parts: { a: { ready: true, name: "a" }, b: { ready: true, name: "b" } },
  });
  parts.b = false;
  now = 1_000;
  assert.deepEqual(await readiness(), {
    isReady: false,
    parts: { a: { ready: true, name: "a" }, b: { ready: false } },
  });
});

test("createReadiness() gives one report to all who ask within a second of it", async () => {
  let now = 0;
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = async () => {
    asked += 1;
    await promise;
  };
  const readiness = createReadiness([{ name: "slow", check }], () => now);
  const first = readiness();
  now = 5_000;
  assert.equal(readiness(), first, "whoever asks while it is made waits for it");
  resolve();
  await first;
  now = 5_999;
  await readiness();
  assert.equal(asked, 1);
  now = 6_000;
  await readiness();
  assert.equal(asked, 2);
});
