import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Effort } from "../protocol/engine.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import { endUtterance, type SessionInput } from "../protocol/recognizer.ts";

const rate = 8000;
/** Returns samples that count up. */
const counting = (from: number, length: number) =>
  Int16Array.from({ length }, (_, index) => from + index);

/** Returns the samples and flush markers, without chunk boundaries. */
function flat(items: readonly SessionInput[]): (number | "flush")[] {
  return items.flatMap((item): (number | "flush")[] => {
    if (item === endUtterance) return ["flush"];
    return typeof item === "string" ? [] : [...item];
  });
}

test("ReplayBuffer returns the input after a position, however it is chunked", () => {
  const lengths = fc.array(fc.constantFrom(-1, 0, 1, 2, 79, 80, 300, 3999, 4000, 9000), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(lengths, fc.array(fc.nat(100), { maxLength: 5 }), (chunks, releases) => {
      const buffer = new ReplayBuffer(rate);
      const given: (number | "flush")[] = [];
      let [samples, releasedTo] = [0, 0];
      const releaseEvery = Math.ceil(chunks.length / (releases.length + 1));
      for (const [index, length] of chunks.entries()) {
        const item = length < 0 ? endUtterance : counting(samples, length);
        buffer.push(item);
        given.push(...flat([item]));
        samples += Math.max(0, length);
        if (index % releaseEvery !== releaseEvery - 1) continue;
        const share = (releases[Math.floor(index / releaseEvery)] ?? 0) / 100;
        releasedTo = Math.max(releasedTo, Math.floor(given.length * share));
        const released = given.slice(0, releasedTo);
        const flushMarkers = released.filter((each) => each === "flush").length;
        buffer.release({ samples: released.length - flushMarkers, flushMarkers });
        assert.deepEqual(flat(buffer.items()), given.slice(releasedTo));
      }
      assert.deepEqual(flat(buffer.items()), given.slice(releasedTo));
      const left = given.slice(releasedTo).filter((each) => each !== "flush").length;
      assert.equal(buffer.samples, left);
    }),
    { numRuns: 500 },
  );
});

test("ReplayBuffer stores long chunks without a copy, and joins short ones", () => {
  const buffer = new ReplayBuffer(rate);
  const chunk = counting(0, 4000);
  buffer.push(chunk);
  assert.equal(buffer.items()[0], chunk);
  buffer.release({ samples: 4000, flushMarkers: 0 });
  assert.equal(buffer.length, 0);

  for (let at = 0; at < 60 * rate; at++) buffer.push(Int16Array.of(1));
  assert.equal(buffer.samples, 60 * rate);
  assert.equal(buffer.length, 60);
});

test("ReplayBuffer returns every sample after a position with the effort that applies to it", () => {
  const efforts = fc.constantFrom("quick" as const, "full" as const);
  const items = fc.array(fc.oneof(efforts, fc.constantFrom(1, 80, 3999, 4000, 9000)), {
    maxLength: 40,
  });
  /** The effort of each sample, if the effort before the first one is known. */
  const effortsOf = (given: readonly SessionInput[], before: Effort): Effort[] => {
    let effort = before;
    return given.flatMap((item) => {
      if (typeof item === "string") effort = item;
      return item instanceof Int16Array ? Array.from(item, () => effort) : [];
    });
  };
  fc.assert(
    fc.property(items, fc.array(fc.nat(100), { maxLength: 4 }), (lengths, releases) => {
      const buffer = new ReplayBuffer(rate);
      const given = lengths.map((each) => (typeof each === "string" ? each : counting(0, each)));
      for (const item of given) buffer.push(item);
      const expected = effortsOf(given, "quick");
      let released = 0;
      for (const share of releases) {
        released = Math.max(released, Math.floor((expected.length * share) / 100));
        buffer.release({ samples: released, flushMarkers: 0 });
        const before = released > 0 ? (expected[released - 1] ?? "quick") : "quick";
        assert.deepEqual(effortsOf(buffer.items(), before), expected.slice(released));
      }
    }),
    { numRuns: 200 },
  );
});

test("ReplayBuffer drops the efforts of samples that it drops", () => {
  const buffer = new ReplayBuffer(rate);
  for (let turn = 1; turn <= 50; turn++) {
    buffer.push(turn % 2 === 0 ? "quick" : "full");
    buffer.push(counting(0, 4000));
    buffer.release({ samples: 4000 * turn - 1, flushMarkers: 0 });
    assert.equal(buffer.length, 1);
  }
});
