import assert from "node:assert/strict";
import { cpuMs } from "./cpu-time.ts";

/** Work that takes less than this on the larger input bothers nobody; the square of a megabyte takes minutes. */
const noiseMs = 400;
/** A square grows by 64; what is linear grows by 8, and by up to 30 where it outgrows the caches and wakes the collector. */
const growthMax = 40;

/** Fails when eight times the input takes much more than eight times the CPU; answers what came of the larger one. */
export function assertLinear<T, Result>(
  name: string,
  size: number,
  { input, run }: { readonly input: (size: number) => T; readonly run: (input: T) => Result },
): Result {
  const msOf = (input: T): number => {
    const start = cpuMs();
    run(input);
    return cpuMs() - start;
  };
  const large = input(size * 8);
  const start = cpuMs();
  const result = run(large);
  const firstMs = cpuMs() - start;
  if (firstMs < noiseMs) return result;
  // The least of a few: a busy machine and the collector of garbage only ever add.
  const largeMs = Math.min(firstMs, msOf(large), msOf(large));
  if (largeMs < noiseMs) return result;
  const small = input(size);
  const smallMs = Math.min(...Array.from({ length: 9 }, () => msOf(small)));
  const growth = largeMs / smallMs;
  assert.ok(growth < growthMax, `${name}: ${smallMs} ms, of eight times as much ${largeMs} ms`);
  return result;
}
