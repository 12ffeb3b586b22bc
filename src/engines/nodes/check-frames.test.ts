import assert from "node:assert/strict";
import { test } from "node:test";
import { openLinkedChild } from "../../../test/fixtures/linked-child.ts";
import { FrameCheck } from "./check-frames.ts";

test("FrameCheck refuses speakers whose turns lack a number, or end before they begin", async () => {
  await using linked = openLinkedChild();
  const session = linked.open();
  const check = (turn: object) =>
    new FrameCheck().check(
      {
        kind: "speakers",
        session: session.id,
        payload: Buffer.from(JSON.stringify({ turns: [turn], speakers: [] })),
      },
      session,
    );
  const turn = { speaker: 1, startMs: 200, endMs: 900 };
  assert.deepEqual(check(turn).parsed, { turns: [turn], speakers: [] });
  const rows: [object, RegExp][] = [
    [{}, /^speakers: endMs must be a number from 0 to \d+, not undefined$/],
    [{ ...turn, startMs: undefined }, /^speakers: startMs must be a number from 0 to 900/],
    [{ ...turn, startMs: 901 }, /^speakers: startMs must be a number from 0 to 900, not 901$/],
    [
      { ...turn, speaker: "aaaa" },
      /^speakers: speaker must be a number from 0 to \d+, not string$/,
    ],
  ];
  for (const [bad, message] of rows) assert.throws(() => check(bad), { name: "Error", message });
});
