import koffi from "koffi";

/** The longest slice that Linux grants. */
const longTurnMs = 100;
/** The numbers of the Linux system calls, for which the C library of Debian 12 has no wrappers. */
const calls: Partial<Record<NodeJS.Architecture, { readonly set: number; readonly get: number }>> =
  {
    x64: { set: 314, get: 315 },
    arm64: { set: 274, get: 275 },
  };
/**
 * The size of struct sched_attr in its first version: size, policy, flags, nice, priority, runtime,
 * deadline, period.
 */
const attributeBytes = 48;
const runtimeAt = 24;
const thisThread = 0;

/**
 * Returns a function that requests long or default scheduling slices from the kernel for the
 * calling thread. A decoder that is preempted every millisecond or two loses its cached data each
 * time. Other threads keep their slices, and run first when they wake. Linux supports this from
 * 6.12 on; on other systems the function has no effect.
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
    // Policy and niceness remain unchanged.
    if (call(numbers.get, thisThread, attributes, attributeBytes, 0) !== 0) return;
    attributes.writeBigUInt64LE(isLong ? BigInt(longTurnMs) * 1_000_000n : 0n, runtimeAt);
    call(numbers.set, thisThread, attributes, 0, 0);
  };
}
