import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonReport } from "./json-report.ts";
import { compareSystems, summarizeResults, type RecordingResult } from "./summarize-results.ts";
import { textReport } from "./text-report.ts";

const options = { normalization: "standard", resampling: { seed: 1, samples: 500 } } as const;

function resultOf(
  text: string,
  recognized: string,
  more: Partial<RecordingResult> = {},
): RecordingResult {
  const words = recognized.split(" ").filter(Boolean);
  return {
    name: "talk.wav",
    languageCode: "en-US",
    mode: "job",
    model: "m",
    text,
    durationMs: 10_000,
    tookMs: 2_000,
    recognized: words.map((word, at) => ({ text: word, startMs: 500 * at, endMs: 500 * at + 400 })),
    ...more,
  };
}

test("the rate of all recordings is that of all words, not the mean of the rates", () => {
  const results = [resultOf("a b c d e f g h i", "a b c d e f g h i"), resultOf("x", "y")];
  const { all, scored } = summarizeResults("s", results, options);
  assert.deepEqual(
    scored.map(({ words }) => words.rate),
    [0, 1],
  );
  assert.equal(all.words.rate, 0.1);
  assert.equal(all.realTimeFactor, 0.2);
  assert.equal(all.audioMs, 20_000);
  assert.equal(all.finals, undefined);
});

test("latencies of finals have percentiles, and no real-time factor is derived from them", () => {
  const times = Array.from({ length: 100 }, (_, at) => at + 1).toReversed();
  const live = { mode: "live", finalMs: times };
  const { tookMs: _, ...result } = resultOf("a", "a", live);
  const { all } = summarizeResults("s", [result], options);
  assert.deepEqual(all.finals, { count: 100, p50: 50, p95: 95, max: 100 });
  assert.equal(all.realTimeFactor, undefined);
  const report = textReport({
    manifest: "m",
    ...options,
    system: summarizeResults("s", [result], options),
  });
  assert.match(report, /latency of finals {5}p50 50 ms, p95 95 ms, max 100 ms \(100 results\)/);
  assert.doesNotMatch(report, /real-time/);
});

test("finals without word times are reported, and do not count in the latency", () => {
  const live = { mode: "live", finalMs: [10], untimedFinals: 2 };
  const results = [resultOf("a", "a", live), resultOf("b", "b", { ...live, finalMs: [] })];
  const system = summarizeResults("s", results, options);
  assert.equal(system.all.finals?.count, 1);
  assert.equal(system.all.untimedFinals, 4);
  const report = textReport({ manifest: "m", ...options, system });
  assert.match(report, /^ {2}latency not measured {2}4 results without word times$/m);
});

test("recordings that were not recognized are listed and count in no rate", () => {
  const results = [resultOf("a b", "a b"), resultOf("c d", "", { failure: "no engine" })];
  const report = summarizeResults("s", results, options);
  assert.equal(report.all.words.counts.length, 2);
  assert.deepEqual(
    report.failed.map(({ failure }) => failure),
    ["no engine"],
  );
  const text = textReport({ manifest: "m", ...options, system: report });
  assert.match(text, /^ {2}talk\.wav +not recognized: no engine$/m);
});

test("each language, mode and model has its own figures", () => {
  const results = [
    resultOf("a b", "a b"),
    resultOf("a b", "a c", { mode: "short" }),
    resultOf("a b", "c d", { model: "n" }),
  ];
  const { groups } = summarizeResults("s", results, options);
  assert.deepEqual(
    groups.map(({ mode, model, summary }) => [mode, model, summary.words.rate]),
    [
      ["job", "m", 0],
      ["short", "m", 0.5],
      ["job", "n", 1],
    ],
  );
});

test("systems are compared on the recordings that both recognized", () => {
  const first = [
    resultOf("a b", "", { failure: "no engine" }),
    resultOf("a b", "a c"),
    resultOf("a b c", "x b c"),
  ];
  const second = [resultOf("a b", "x y"), resultOf("a b", "a b"), resultOf("a b c", "a b c")];
  const [one, other] = [
    summarizeResults("one", first, options),
    summarizeResults("other", second, options),
  ];
  const { words, characters } = compareSystems(one, other, options.resampling);
  assert.equal(words.difference, -2 / 5);
  assert.deepEqual([words.better, words.worse, words.p], [2, 0, 0.5]);
  assert.equal(characters.difference, -2 / 8);
});

test("the JSON of an evaluation without results has null for what is unknown", () => {
  const system = summarizeResults("s", [resultOf("a", "", { failure: "no engine" })], options);
  const { systems, comparison } = JSON.parse(
    JSON.stringify(jsonReport({ manifest: "m", ...options, system })),
  );
  assert.equal(comparison, null);
  assert.equal(systems[0].words.rate, null);
  assert.equal(systems[0].words.interval, null);
  assert.equal(systems[0].realTimeFactor, null);
  assert.equal(systems[0].recordingCount, 0);
  assert.deepEqual(systems[0].failed, [{ name: "talk.wav", failure: "no engine" }]);
});
