import assert from "node:assert/strict";
import { test } from "node:test";
import { speakingTimes } from "./speaking-time.ts";

test("speakingTimes() adds up the time of each speaker, in the order of the speakers' first words", () => {
  const segments = [
    { startTime: "0s", endTime: "9.500s", speakerId: "S2" },
    { startTime: "9.500s", endTime: "10s" },
    { startTime: "10s", endTime: "12s", speakerId: "S1" },
    { startTime: "12s", endTime: "13.250s", speakerId: "S2" },
  ];
  assert.deepEqual(
    speakingTimes(segments, { S1: { fullName: " Þóra " }, S3: { fullName: "Már" } }),
    [
      { id: "S2", name: "", seconds: 10.75 },
      { id: "S1", name: "Þóra", seconds: 2 },
      { id: "S3", name: "Már", seconds: 0 },
    ],
  );
});

test("speakingTimes() is empty for segments without speakers", () => {
  assert.deepEqual(speakingTimes([{ startTime: "0s", endTime: "1s", speakerId: "" }]), []);
});
