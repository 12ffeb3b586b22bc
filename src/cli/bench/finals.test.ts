import assert from "node:assert/strict";
import { test } from "node:test";
import { Distribution } from "./distribution.ts";
import { compareFinals, type StreamFinals } from "./finals.ts";

test("compareFinals() counts the finals that a stream lacks compared with most streams of its recording", () => {
  const rows: [what: string, streams: [string, string[]][], lost: number, differing: number][] = [
    ["nothing", [], 0, 0],
    [
      "alike",
      [
        ["a", ["x", "y"]],
        ["a", ["x", "y"]],
      ],
      0,
      0,
    ],
    [
      "recordings differ",
      [
        ["a", ["x"]],
        ["b", ["y", "z"]],
      ],
      0,
      0,
    ],
    [
      "one lost one",
      [
        ["a", ["x", "y"]],
        ["a", ["x"]],
        ["a", ["x", "y"]],
      ],
      1,
      1,
    ],
    [
      "of two, the longer one counts",
      [
        ["a", ["x"]],
        ["a", ["x", "y"]],
      ],
      1,
      1,
    ],
    [
      "most got nothing",
      [
        ["a", []],
        ["a", ["x", "y"]],
        ["a", []],
      ],
      4,
      2,
    ],
    [
      "there is nothing to get",
      [
        ["a", []],
        ["a", []],
      ],
      0,
      0,
    ],
    [
      "another text",
      [
        ["a", ["x"]],
        ["a", ["q"]],
        ["a", ["x"]],
      ],
      0,
      1,
    ],
    [
      "one too many",
      [
        ["a", ["x"]],
        ["a", ["x", "x"]],
        ["a", ["x"]],
      ],
      0,
      1,
    ],
  ];
  for (const [what, streams, lost, differingStreams] of rows) {
    const list = streams.map(([recording, texts]): StreamFinals => ({ recording, texts }));
    const finals = streams.reduce((sum, [, texts]) => sum + texts.length, 0);
    assert.deepEqual(compareFinals(list), { finals, lost, differingStreams }, what);
  }
});

test("Distribution returns only values that were measured", () => {
  const distribution = new Distribution();
  assert.equal(distribution.summary(), undefined);
  for (let value = 100; value >= 1; value -= 1) distribution.add(value);
  assert.deepEqual(distribution.summary(), { count: 100, p50: 50, p95: 95, p99: 99, max: 100 });
});
