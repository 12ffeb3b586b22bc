import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PlainHistogram } from "./plain-histogram.ts";

test("a series has the observations up to each bound, with their sum and number", () => {
  const histogram = new PlainHistogram([0.1, 1], ["model"]);
  const series = histogram.series({ model: "a" });
  for (const value of [0.1, 0.2, 1, 7]) series.observe(value);
  assert.equal(histogram.series({ model: "a" }), series);
  histogram.series({ model: "b" });
  const lines = histogram
    .lines("lag")
    .map(({ metricName, labels, value }) => [
      metricName,
      ...Object.values(labels),
      Number(value.toFixed(9)),
    ]);
  assert.deepEqual(lines, [
    ["lag_bucket", 0.1, "a", 1],
    ["lag_bucket", 1, "a", 3],
    ["lag_bucket", "+Inf", "a", 4],
    ["lag_sum", "a", 8.3],
    ["lag_count", "a", 4],
    ["lag_bucket", 0.1, "b", 0],
    ["lag_bucket", 1, "b", 0],
    ["lag_bucket", "+Inf", "b", 0],
    ["lag_sum", "b", 0],
    ["lag_count", "b", 0],
  ]);
});

test("each bucket has as many observations as there are values up to its bound", () => {
  const bound = fc.double({ min: 0, max: 10, noNaN: true });
  fc.assert(
    fc.property(fc.uniqueArray(bound, { minLength: 1 }), fc.array(bound), (bounds, values) => {
      const sorted = bounds.toSorted((a, b) => a - b);
      const histogram = new PlainHistogram(sorted, []);
      for (const value of values) histogram.series({}).observe(value);
      const buckets = histogram.lines("x").filter(({ metricName }) => metricName === "x_bucket");
      for (const { labels, value } of values.length > 0 ? buckets : []) {
        const le = labels["le"] === "+Inf" ? Infinity : Number(labels["le"]);
        assert.equal(value, values.filter((each) => each <= le).length);
      }
    }),
  );
});
