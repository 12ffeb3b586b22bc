import koffi from "koffi";

/** sched_getattr(2). */
const getAttributes = process.arch === "arm64" ? 275 : 315;
const call = koffi
  .load(null)
  .func("long syscall(long number, long pid, _Out_ uint8_t *attributes, long bytes, long flags)");
const attributeBytes = 48;
const runtimeAt = 24;

/** Milliseconds for which the main thread of a process may keep its core; undefined where the kernel does not tell: before Linux 6.12. */
export function turnMs(pid: number): number | undefined {
  const attributes = Buffer.alloc(attributeBytes);
  if (call(getAttributes, pid, attributes, attributeBytes, 0) !== 0) return undefined;
  return Number(attributes.readBigUInt64LE(runtimeAt)) / 1e6 || undefined;
}
