import koffi from "koffi";

/** The most that Linux gives at a time. */
const longTurnMs = 100;
/** Numbers of Linux's calls: the C library of Debian 12 does not know them by name. */
const calls: Partial<Record<NodeJS.Architecture, { readonly set: number; readonly get: number }>> =
  {
    x64: { set: 314, get: 315 },
    arm64: { set: 274, get: 275 },
  };
/**
 * struct sched_attr in its first version: size, policy, flags, nice, priority, runtime, deadline,
 * period.
 */
const attributeBytes = 48;
const runtimeAt = 24;
const thisThread = 0;

/**
 * Asks for long turns of the calling thread on its core, or for those of everybody again: returned
 * is who asks. A decoder that gives its core to another one every millisecond or two finds its
 * memory gone from the caches each time. Others keep the turns they have, and go first when they
 * wake. Linux does so from 6.12 on; where it does not, nothing changes.
 */
export function openTurnLength(): (isLong: boolean) => void {
  const numbers = process.platform === "linux" ? calls[process.arch] : undefined;
  if (!numbers) return () => {};
  const call = koffi.load(null).func("long syscall(long, long, _Inout_ uint8_t *, long, long)");
  const attributes = Buffer.alloc(attributeBytes);
  let isLongNow = false;
  return (isLong) => {
    if (isLong === isLongNow) return;
    isLongNow = isLong;
    // Policy and niceness stay as whoever started the service has set them.
    if (call(numbers.get, thisThread, attributes, attributeBytes, 0) !== 0) return;
    attributes.writeBigUInt64LE(isLong ? BigInt(longTurnMs) * 1_000_000n : 0n, runtimeAt);
    call(numbers.set, thisThread, attributes, 0, 0);
  };
}
