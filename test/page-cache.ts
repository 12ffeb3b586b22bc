import { closeSync, openSync } from "node:fs";
import koffi from "koffi";

/** cachestat(2), since Linux 6.5: the same number on every architecture. */
const cachestat = 451;
const call = koffi
  .load(null)
  .func("long syscall(long number, long fd, void *range, _Out_ uint64_t *stat, long flags)");
const pageBytes = 4096;

/** Bytes of a file that are in memory and not on the disk yet; undefined where the kernel does not tell. */
export function unsyncedBytes(file: string): number | undefined {
  const fd = openSync(file, "r");
  try {
    // From the start to the end; then pages cached, dirty, being written, evicted and recently evicted.
    const stat = new BigUint64Array(5);
    if (call(cachestat, fd, new BigUint64Array(2), stat, 0) !== 0) return undefined;
    return (Number(stat[1]) + Number(stat[2])) * pageBytes;
  } finally {
    closeSync(fd);
  }
}
