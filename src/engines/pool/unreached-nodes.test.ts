import assert from "node:assert/strict";
import { test } from "node:test";
import { unreached } from "./unreached-nodes.ts";

test("unreached() names what is not reached, also the main process of a node", () => {
  const rows: [names: readonly string[], message: string][] = [
    [[], "no engine node has a model"],
    [
      ["engines.test:8090"],
      "engine node engines.test:8090 is not reached yet, or is still loading its models",
    ],
    [["main process"], "the main process is not reached yet, or is still loading its models"],
    [
      ["main process", "a:1", "b:2", "c:3", "d:4"],
      "the main process, engine node a:1, engine node b:2 and 2 more are not reached yet, or are still loading their models",
    ],
  ];
  for (const [names, message] of rows) {
    const error = unreached({ unknown: () => names, unknownMs: 40_000 });
    assert.equal(error.message, `${message}; try again`);
    assert.equal(error.reason, "NO_ENGINE");
    assert.equal(error.retryAfterMs, 10_000);
  }
});
