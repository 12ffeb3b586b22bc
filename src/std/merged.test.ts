import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { merged } from "./merged.ts";

test("values come as they arrive, and a source goes on when its value has been taken", async () => {
  const requested: string[] = [];
  async function* source(name: string, count: number) {
    for (let at = 1; at <= count; at++) {
      requested.push(`${name}${at}`);
      yield `${name}${at}`;
      await Promise.resolve();
    }
  }
  const { signal } = new AbortController();
  const all = merged(() => [source("a", 3), source("b", 1)], signal);
  assert.equal((await all.next()).value, "a1");
  assert.deepEqual(requested, ["a1", "b1"]);
  assert.equal((await all.next()).value, "b1");
  assert.deepEqual(await Array.fromAsync(all), ["a2", "a3"]);
});

async function* endless(signal: AbortSignal, ended: string[], name: string) {
  try {
    yield name;
    if (!signal.aborted) await once(signal, "abort");
    signal.throwIfAborted();
  } finally {
    ended.push(name);
  }
}

test("the error of a source, an abort and a return end every source", async () => {
  const ended: string[] = [];
  const stop = new AbortController();
  async function* failing() {
    yield "f";
    throw new Error("broken");
  }
  const all = (signal: AbortSignal) => [endless(signal, ended, "a"), endless(signal, ended, "b")];
  const broken = merged((signal) => [...all(signal), failing()], stop.signal);
  await assert.rejects(Array.fromAsync(broken), { message: "broken" });
  assert.deepEqual(ended.splice(0).toSorted(), ["a", "b"]);
  const left = merged(all, stop.signal);
  await left.next();
  await left.return();
  assert.deepEqual(ended.splice(0).toSorted(), ["a", "b"]);
  const aborted = Array.fromAsync(merged(all, stop.signal));
  stop.abort(new Error("gone"));
  await assert.rejects(aborted, { message: "gone" });
  assert.deepEqual(ended.toSorted(), ["a", "b"]);
});
