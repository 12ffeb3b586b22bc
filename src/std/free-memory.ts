/** Smaller buffers are left to the garbage collector: a parser may keep them for itself. */
const bufferBytesMin = 4_096;

/**
 * Frees the memory of a chunk that no code uses any more. Otherwise the garbage collector, which
 * counts memory outside its heap, lets tens of megabytes collect, and scans the whole heap every
 * few hundred chunks. These scans take more than half of the CPU time of an upload. A chunk that
 * shares its memory is not freed, unless it is the start of a buffer that has at most
 * `otherBytesMax` bytes more, which are not used any more either.
 */
export function freeMemory(
  { buffer, byteOffset, byteLength }: Uint8Array,
  { otherBytesMax = 0 }: { readonly otherBytesMax?: number } = {},
): void {
  if (!(buffer instanceof ArrayBuffer) || byteOffset > 0) return;
  const others = buffer.byteLength - byteLength;
  const isFreed = others === 0 || (others <= otherBytesMax && buffer.byteLength >= bufferBytesMin);
  if (isFreed) buffer.transfer(0);
}
