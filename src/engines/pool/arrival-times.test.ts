import assert from "node:assert/strict";
import { test } from "node:test";
import { ArrivalTimes } from "./arrival-times.ts";

/** A clock that the test moves, and arrivals that use it. */
function arrivalsAt() {
  const clock = { ms: 1_000 };
  return { clock, arrivals: new ArrivalTimes(() => clock.ms) };
}

/** Reads a chunk that comes after this wait. */
function read(
  { clock, arrivals }: ReturnType<typeof arrivalsAt>,
  chunk: { readonly ms: number; readonly afterMs: number },
): void {
  arrivals.waits();
  clock.ms += chunk.afterMs;
  arrivals.arrived(chunk.ms);
}

test("the lag of a result is the time since the audio that it covers was read", () => {
  const stream = arrivalsAt();
  for (let count = 0; count < 10; count += 1) read(stream, { ms: 100, afterMs: 100 });
  stream.clock.ms += 70;
  assert.equal(stream.arrivals.sinceArrivalMs(1_000), 70);
  assert.equal(
    stream.arrivals.sinceArrivalMs(2_000),
    70,
    "audio that was not read yet is the last",
  );
});

test("earlier audio has a longer lag, with chunks of 20 ms within the time between entries", () => {
  const stream = arrivalsAt();
  for (let count = 0; count < 100; count += 1) read(stream, { ms: 20, afterMs: 20 });
  const lagMs = stream.arrivals.sinceArrivalMs(1_000);
  assert.ok(lagMs > 940 && lagMs <= 1_000, `${lagMs} ms`);
});

test("a backlog belongs to the lag: audio came in real time since a read had to wait", () => {
  const stream = arrivalsAt();
  read(stream, { ms: 100, afterMs: 100 });
  // The engine blocks for 3 s, in which the client goes on, and then reads without waiting.
  stream.clock.ms += 3_000;
  for (let count = 0; count < 30; count += 1) read(stream, { ms: 100, afterMs: 0 });
  assert.equal(stream.arrivals.sinceArrivalMs(1_100), 2_000);
  assert.equal(stream.arrivals.sinceArrivalMs(3_100), 0);
});

test("audio that comes faster than in real time has arrived when it was read", () => {
  const stream = arrivalsAt();
  for (let count = 0; count < 100; count += 1) read(stream, { ms: 1_000, afterMs: 0.1 });
  stream.clock.ms += 250;
  assert.equal(Math.round(stream.arrivals.sinceArrivalMs(100_000)), 250);
});

test("audio without results for hours takes bounded memory, and keeps recent times", () => {
  const stream = arrivalsAt();
  for (let count = 0; count < 36_000; count += 1) read(stream, { ms: 100, afterMs: 100 });
  stream.clock.ms += 40;
  assert.equal(stream.arrivals.sinceArrivalMs(3_600_000), 40);
  assert.equal(Math.round(arrivalOf(stream, 3_590_000)), 10_040);
});

/** Asks for earlier audio in a copy of the stream: a question forgets the audio before. */
function arrivalOf(stream: ReturnType<typeof arrivalsAt>, endMs: number): number {
  const copy = arrivalsAt();
  const audioMs = 3_600_000;
  copy.clock.ms = stream.clock.ms - 40 - audioMs;
  for (let count = 0; count < audioMs / 100; count += 1) read(copy, { ms: 100, afterMs: 100 });
  copy.clock.ms += 40;
  return copy.arrivals.sinceArrivalMs(endMs);
}
