import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldBytes } from "./held-bytes.ts";
import { ServiceError } from "./service-error.ts";

function heldBytes(): HeldBytes {
  return new HeldBytes({
    nodeBytesMax: 100,
    accountBytesMax: 60,
    reason: "BODIES_FULL",
    what: "request bodies",
  });
}

/** Returns a check that an error is the refusal and that its message contains these words. */
function refusal(words: RegExp) {
  return (error: unknown) =>
    error instanceof ServiceError &&
    error.code === "resource_exhausted" &&
    error.reason === "BODIES_FULL" &&
    error.retryAfterMs === 1_000 &&
    words.test(error.message);
}

test("one account cannot hold more than its limit, and other accounts are not affected", () => {
  const held = heldBytes();
  using share = held.hold("a", 50);
  assert.throws(() => share.grow(11), refusal(/request bodies of the account hold 60 bytes/));
  assert.equal(held.total, 50, "a refused growth adds nothing");
  share.grow(10);
  assert.throws(() => held.hold("a", 1), refusal(/of the account/));
  using _other = held.hold("b", 40);
  assert.equal(held.total, 100);
});

test("all accounts together cannot hold more than the limit of the node", () => {
  const held = heldBytes();
  using _a = held.hold("a", 60);
  using b = held.hold("b", 40);
  assert.throws(() => held.hold("c", 1), refusal(/of all accounts hold 100 bytes/));
  b.shrink(10);
  using _c = held.hold("c", 10);
  assert.equal(held.total, 100);
});

test("a disposed share holds nothing, even if it is disposed twice", () => {
  const held = heldBytes();
  const share = held.hold("a", 10);
  share.grow(20);
  share.shrink(5);
  assert.equal(held.total, 25);
  share[Symbol.dispose]();
  share[Symbol.dispose]();
  share.shrink(5);
  assert.equal(held.total, 0);
  using _again = held.hold("a", 60);
});
