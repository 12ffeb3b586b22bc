import assert from "node:assert/strict";
import { test } from "node:test";
import { openLinkedChild } from "../../../test/fixtures/linked-child.ts";
import type { FrameKind } from "../protocol/engine-frames.ts";

test("a process is failing after three errors, until it has a result of any kind", async () => {
  const checkpoint = { position: { samples: 0, flushMarkers: 0 } };
  const results: [FrameKind, object][] = [
    ["committed", { checkpoint }],
    ["aligned", []],
    ["speakers", { turns: [], speakers: [] }],
  ];
  for (const [kind, result] of results) {
    await using linked = openLinkedChild();
    const { child, send } = linked;
    const fail = () => send("error", { message: "it failed" }, linked.open().id);
    for (let errors = 0; errors < 2; errors += 1) fail();
    send(kind, result, linked.open().id);
    for (let errors = 0; errors < 2; errors += 1) fail();
    assert.equal(child.isFailing, false, kind);
    fail();
    assert.equal(child.isFailing, true, kind);
    send(kind, result, linked.open().id);
    assert.equal(child.isFailing, false, kind);
  }
});
