import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { liveShareMax } from "../../engines/pool/admission.ts";
import {
  gibibytes,
  type ModelFigures,
  planCluster,
  type PlannedMachine,
  type PlannedWork,
} from "./plan-cluster.ts";

const gibibyte = 1 << 30;
const mebibyte = 1 << 20;

const tenth: ModelFigures = {
  name: "tenth",
  live: { speech: 0.1, silence: 0 },
  job: 0.2,
  processBytes: gibibyte,
  modelBytes: 100 * mebibyte,
};
const machine: PlannedMachine = { cores: 8, memoryBytes: 32 * gibibyte, headroom: 0.3 };
const noWork: PlannedWork = { streams: 0, hoursPerDay: 0, busyHours: 24, speechShare: 1 };

/** Returns the number of main processes, engine processes and machines. */
function counts(
  work: Partial<PlannedWork>,
  model: Partial<ModelFigures> = {},
  on: Partial<PlannedMachine> = {},
): readonly number[] {
  const plan = planCluster({ ...noWork, ...work }, { ...tenth, ...model }, { ...machine, ...on });
  const of = (name: string) => plan.parts.find((part) => part.name === name)?.processes ?? NaN;
  return [of("front ends"), of("workers"), of("engines"), plan.engineNodes, plan.machines];
}

test("planCluster() counts front ends, workers, engine processes, engine nodes and machines", () => {
  // A stream takes 100.69 ms of an engine process and 1.26 ms of a front end each second.
  const rows: readonly [Parameters<typeof counts>, readonly number[]][] = [
    [[{ streams: 6 }], [1, 0, 1, 0, 1]],
    [[{ streams: 7 }], [1, 0, 2, 0, 1]],
    [[{ streams: 42 }], [1, 0, 7, 0, 1]],
    [[{ streams: 48 }], [1, 0, 8, 1, 2]],
    [[{ streams: 49 }], [1, 0, 9, 2, 3]],
    [[{ streams: 555 }], [1, 0, 93, 12, 13]],
    [[{ streams: 556 }], [2, 0, 93, 12, 13]],
    // Half of a stream is speech: 13 streams a process.
    [[{ streams: 13, speechShare: 0.5 }], [1, 0, 1, 0, 1]],
    [[{ streams: 14, speechShare: 0.5 }], [1, 0, 2, 0, 1]],
    // 84 hours in 24 are 3.5 recordings at a time, which take 0.7 of a core.
    [[{ hoursPerDay: 84 }], [1, 1, 1, 0, 1]],
    [[{ hoursPerDay: 85 }], [1, 1, 2, 0, 1]],
    [[{ hoursPerDay: 84, busyHours: 12 }], [1, 1, 2, 0, 1]],
    [[{ streams: 3, hoursPerDay: 42 }], [1, 1, 1, 0, 1]],
    // 5 ms a second: a worker has 140 recordings at a time.
    [
      [{ hoursPerDay: 3360 }, { job: 0.001 }],
      [1, 1, 1, 0, 1],
    ],
    [
      [{ hoursPerDay: 3370 }, { job: 0.001 }],
      [1, 2, 1, 1, 2],
    ],
    // One main thread is not enough for both.
    [
      [
        { streams: 300, hoursPerDay: 2000 },
        { live: { speech: 0, silence: 0 }, job: 0.001 },
      ],
      [1, 1, 1, 1, 2],
    ],
    // Admission leaves a fifth of each core, whatever the headroom.
    [
      [{ streams: 7 }, {}, { headroom: 0 }],
      [1, 0, 1, 0, 1],
    ],
    [
      [{ streams: 8 }, {}, { headroom: 0 }],
      [1, 0, 2, 0, 1],
    ],
    // A quarter of the memory has four processes of a model of 1 GiB.
    [
      [{ streams: 30 }, { modelBytes: gibibyte }],
      [1, 0, 5, 2, 3],
    ],
    [
      [{ streams: 30 }, { processBytes: 16 * gibibyte }],
      [1, 0, 5, 3, 4],
    ],
  ];
  for (const [args, expected] of rows) {
    assert.deepEqual(counts(...args), expected, JSON.stringify(args));
  }
});

test("planCluster() names what is used up first", () => {
  const rows: readonly [Parameters<typeof counts>, string][] = [
    [[{ streams: 40 }], "cores, mostly of engines"],
    [[{ streams: 540 }, { live: { speech: 0, silence: 0 } }], "the main thread"],
    [[{ streams: 800 }, { live: { speech: 0, silence: 0 } }], "the main threads of front ends"],
    [[{ hoursPerDay: 6000 }, { job: 0 }], "the main threads of workers"],
    [[{ streams: 20 }, { processBytes: 6 * gibibyte }], "memory"],
    [[{ streams: 24 }, { modelBytes: gibibyte }], "engine processes, by memory"],
    [[{ streams: 96 }], "engine processes, one a core"],
  ];
  for (const [[work, model, on], what] of rows) {
    const plan = planCluster({ ...noWork, ...work }, { ...tenth, ...model }, { ...machine, ...on });
    assert.equal(plan.limit.what, what, JSON.stringify([work, model]));
    assert.ok(plan.limit.share > 0 && plan.limit.share <= 1, `${plan.limit.share}`);
  }
});

test("planCluster() refuses work that a model cannot do, with the option, value and limit", () => {
  const rows: readonly [Parameters<typeof counts>, RegExp][] = [
    [
      [{ streams: 5 }, { live: undefined }],
      /^--streams must be 0, not 5: tenth does not recognize/,
    ],
    [[{ hoursPerDay: 2 }, { job: undefined }], /^--hours-per-day must be 0, not 2: tenth is not/],
    [
      [{ streams: 1 }, { live: { speech: 0.75, silence: 0 } }],
      /^--streams must be 0, not 1: tenth takes 0\.75 s .* 0\.70 s is the limit/,
    ],
    [
      [{ streams: 1 }, { processBytes: 33 * gibibyte }],
      /^--memory must be at least 33\.0 GiB, not 32\.0: an engine process of tenth/,
    ],
  ];
  for (const [args, message] of rows) assert.throws(() => counts(...args), { message });
  assert.deepEqual(counts({ hoursPerDay: 1 }, { live: undefined }), [1, 1, 1, 0, 1]);
});

test("planCluster() needs no fewer machines for more work, and its parts have room for it", () => {
  const work = fc.record({
    streams: fc.nat(5000),
    hoursPerDay: fc.nat(5000),
    busyHours: fc.integer({ min: 1, max: 24 }),
    speechShare: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const on = fc.record({
    cores: fc.integer({ min: 1, max: 64 }),
    memoryBytes: fc.integer({ min: 2, max: 256 }).map((each) => each * gibibyte),
    headroom: fc.double({ min: 0, max: 0.85, noNaN: true }),
  });
  fc.assert(
    fc.property(work, on, fc.nat(500), fc.nat(500), (given, on, streams, hours) => {
      const less = planCluster(given, tenth, on);
      const more = planCluster(
        {
          ...given,
          streams: given.streams + streams,
          hoursPerDay: given.hoursPerDay + hours,
        },
        tenth,
        on,
      );
      assert.ok(more.machines >= less.machines);
      assert.ok(more.cores >= less.cores);
      for (const [at, part] of less.parts.entries()) {
        assert.ok((more.parts[at]?.processes ?? 0) >= part.processes, part.name);
      }
      // The engines can do the work in the share of their cores that it may use.
      const engines = less.parts.find(({ name }) => name === "engines")?.processes ?? 0;
      const live = given.streams * 0.1 * given.speechShare;
      assert.ok(live <= engines * Math.min(1 - on.headroom, liveShareMax) + 1e-6);
      const recordings = (given.hoursPerDay / given.busyHours) * 0.2;
      assert.ok(live + recordings <= engines * (1 - on.headroom) + 1e-6);
    }),
  );
});

const page = readFileSync(resolve(import.meta.dirname, "../../../docs/cluster.md"), "utf8");

/** Returns the cells of the table with this first column. */
function tableOf(head: string): readonly (readonly string[])[] {
  const [, text = ""] = page.split(`| ${head} |`, 2);
  const [table = ""] = text.split("\n\n", 1);
  return table
    .split("\n")
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test("the tables of docs/cluster.md are what planCluster() returns for their figures", () => {
  const models = tableOf("model, measured").map((cells): ModelFigures => {
    const [name = "", ...texts] = cells;
    const [speech = NaN, silence = NaN, job = NaN, process = NaN, files = NaN] = texts.map((text) =>
      Number.parseFloat(text),
    );
    return {
      name,
      live: { speech: speech / 1000, silence: silence / 1000 },
      job: job / 1000,
      processBytes: process * mebibyte,
      modelBytes: files * mebibyte,
    };
  });
  assert.equal(models.length, 2);
  const on = { cores: 16, memoryBytes: 32 * gibibyte, headroom: 0.3 };
  const rows = tableOf("model, planned");
  assert.ok(rows.length >= 6);
  for (const cells of rows) {
    const [name = "", streams = "", hours = ""] = cells;
    const model = models.find((each) => each.name === name);
    assert.ok(model, name);
    const work = { ...noWork, streams: Number(streams), hoursPerDay: Number(hours) };
    const { parts, cores, memoryBytes, machines, engineNodes } = planCluster(work, model, on);
    const [frontEnds, workers, engines] = parts.map(({ processes }) => String(processes));
    const all = [cores.toFixed(1), `${gibibytes(memoryBytes)} GiB`];
    const expected = [frontEnds, workers, engines, ...all, `${machines} (${engineNodes})`];
    assert.deepEqual(cells.slice(3), expected, `${name} ${streams} ${hours}`);
  }
});
