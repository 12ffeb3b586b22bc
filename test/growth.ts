import assert from "node:assert/strict";
import { cpuMs } from "./cpu-time.ts";

/** Work that takes less than this on the larger input bothers nobody; the square of a megabyte takes minutes. */
const noiseMs = 400;
/** A square grows by 64; what is linear grows by 8, and by up to 30 where it outgrows the caches and wakes the collector. */
const growthMax = 40;

/** Fails when eight times the input takes much more than eight times the CPU. */
export function assertLinear<T>(
  name: string,
  size: number,
  { input, run }: { readonly input: (size: number) => T; readonly run: (input: T) => void },
): void {
  const msOf = (input: T): number => {
    const start = cpuMs();
    run(input);
    return cpuMs() - start;
  };
  const large = input(size * 8);
  if (msOf(large) < noiseMs) return;
  // The least of three: a busy machine and the collector of garbage only ever add.
  const largeMs = Math.min(msOf(large), msOf(large), msOf(large));
  if (largeMs < noiseMs) return;
  const small = input(size);
  const smallMs = Math.min(msOf(small), msOf(small), msOf(small));
  const growth = largeMs / smallMs;
  assert.ok(growth < growthMax, `${name}: ${smallMs} ms, of eight times as much ${largeMs} ms`);
}
