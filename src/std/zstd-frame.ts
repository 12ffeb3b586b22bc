/** The maximum window that every HTTP client with zstd supports (RFC 9659). */
const windowBytesMax = 8 << 20;
/** The maximum block size (RFC 8878, section 3.1.1.2.4). */
const blockBytesMax = 128 << 10;

const magic = [0x28, 0xb5, 0x2f, 0xfd] as const;

/**
 * Creates one zstd frame (RFC 8878) with the content `head`, then that of `frame`, then `tail`.
 * Returns its consecutive parts. The blocks of `frame` are copied, without decompression or
 * compression. This works because the state of a frame (history, tables and repeated offsets)
 * begins empty and is unchanged by uncompressed blocks. Returns undefined if splicing is not
 * possible: several frames, a dictionary, a window larger than HTTP clients support, or no frame.
 */
export function spliceZstd(
  head: Uint8Array,
  frame: Uint8Array,
  tail: Uint8Array,
): Uint8Array[] | undefined {
  const layout = layoutOf(frame);
  if (layout === undefined || layout.windowBytes > windowBytesMax) return undefined;
  const { start, lastHeader, end } = layout;
  return [
    frameHeader(layout.windowBytes),
    ...rawBlocks(head, false),
    frame.subarray(start, lastHeader),
    Uint8Array.of(
      (frame[lastHeader] ?? 0) & ~1,
      frame[lastHeader + 1] ?? 0,
      frame[lastHeader + 2] ?? 0,
    ),
    frame.subarray(lastHeader + 3, end),
    ...rawBlocks(tail, true),
  ].filter((piece) => piece.length > 0);
}

/** The position of a frame's blocks. */
interface Layout {
  readonly windowBytes: number;
  readonly start: number;
  /** The header of the last block. */
  readonly lastHeader: number;
  readonly end: number;
}

function layoutOf(frame: Uint8Array): Layout | undefined {
  if (magic.some((byte, index) => frame[index] !== byte)) return undefined;
  const descriptor = frame[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  // The frame has a dictionary, or a reserved bit is set.
  if ((descriptor & 0x0b) !== 0) return undefined;
  const sizeAt = isSingleSegment ? 5 : 6;
  const windowBytes = isSingleSegment
    ? contentBytes(frame, sizeAt, sizeBytes)
    : windowOf(frame[5] ?? 0);
  const start = sizeAt + sizeBytes;
  for (let at = start; at + 3 <= frame.length;) {
    const header = littleEndian(frame, at, 3);
    const type = (header >> 1) & 3;
    if (type === 3) return undefined;
    const end = at + 3 + (type === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) {
      const checksumBytes = (descriptor & 4) === 0 ? 0 : 4;
      return end + checksumBytes === frame.length
        ? { windowBytes, start, lastHeader: at, end }
        : undefined;
    }
    at = end;
  }
  return undefined;
}

/** Returns the window size in bytes (RFC 8878, section 3.1.1.1.2). */
function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** Returns the content size (RFC 8878, section 3.1.1.1.4). A two-byte size is stored minus 256. */
function contentBytes(frame: Uint8Array, at: number, length: number): number {
  return littleEndian(frame, at, length) + (length === 2 ? 256 : 0);
}

function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = length - 1; index >= 0; index -= 1) {
    value = value * 256 + (bytes[at + index] ?? 0);
  }
  return value;
}

/**
 * Returns a frame header without a content size, checksum or dictionary. The window has room for
 * the references and for a whole block.
 */
function frameHeader(windowBytes: number): Uint8Array {
  const exponent = Math.ceil(Math.log2(Math.max(windowBytes, blockBytesMax))) - 10;
  return Uint8Array.of(...magic, 0, exponent << 3);
}

/**
 * Returns blocks of uncompressed content. If `isLast` is true, the last block, which may be empty,
 * ends the frame.
 */
function rawBlocks(content: Uint8Array, isLast: boolean): Uint8Array[] {
  const count = Math.max(Math.ceil(content.length / blockBytesMax), Number(isLast));
  return Array.from({ length: count }).flatMap((_, index) => {
    const part = content.subarray(index * blockBytesMax, (index + 1) * blockBytesMax);
    const header = part.length * 8 + Number(isLast && index === count - 1);
    return [Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16), part];
  });
}
