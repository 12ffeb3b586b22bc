import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../std/service-error.ts";
import { Deadline } from "./deadline.ts";

const expired = () => new ServiceError("out_of_range", "too long in all");
const problem = (seconds: number) => `nothing for ${seconds} s`;
const never = () => new Promise<never>(() => {});

test("Deadline returns a result that arrives in time", async () => {
  using deadline = new Deadline(10_000, expired);
  assert.equal(await deadline.within(10_000, () => Promise.resolve(7), problem), 7);
  await assert.rejects(
    deadline.within(10_000, () => Promise.reject(new Error("own")), problem),
    /own/,
  );
});

test("Deadline throws out_of_range for a single wait that is too long", async () => {
  using deadline = new Deadline(10_000, expired);
  await assert.rejects(deadline.within(20, never, problem), {
    code: "out_of_range",
    message: "nothing for 0.02 s",
  });
});

test("Deadline throws when the whole stream expires, in the current wait and in the next", async () => {
  using deadline = new Deadline(20, expired);
  await assert.rejects(deadline.within(10_000, never, problem), /too long in all/);
  await assert.rejects(
    deadline.within(10_000, () => Promise.resolve(1), problem),
    /too long/,
  );
});
