import { cutShort, damaged, noBytes, type StreamFramer } from "./stream-framer.ts";

/**
 * Returns the length of the part of a stream that begins here, from its header; undefined while the
 * header is incomplete. Throws AudioError for what is not a header.
 */
export type PartLength = (head: Buffer) => number | undefined;

/** The maximum length of a header. */
const headBytesMax = 64;

/** Passes on every byte of a stream at once, and checks that each part follows the one before. */
export class WalkedParts implements StreamFramer {
  readonly #lengthOf: PartLength;
  #head: Buffer = noBytes;
  /** The bytes that the current part still needs. */
  #left = 0;

  constructor(lengthOf: PartLength) {
    this.#lengthOf = lengthOf;
  }

  *push(bytes: Uint8Array): Generator<Uint8Array> {
    let at = 0;
    try {
      while (at < bytes.length)
        at += this.#left > 0 ? this.#pass(bytes, at) : this.#read(bytes, at);
    } finally {
      yield bytes.subarray(0, at);
    }
  }

  end(): Uint8Array {
    const isOpen = this.#left > 0 && this.#left !== Infinity;
    if (isOpen || this.#head.length > 0) throw cutShort();
    return noBytes;
  }

  /** Returns how many of these bytes belong to the current part. */
  #pass(bytes: Uint8Array, at: number): number {
    const count = Math.min(this.#left, bytes.length - at);
    this.#left -= count;
    return count;
  }

  /** Reads the header of the next part. Returns how many of these bytes belong to it. */
  #read(bytes: Uint8Array, at: number): number {
    const held = this.#head.length;
    const head = Buffer.concat([this.#head, bytes.subarray(at, at + headBytesMax - held)]);
    const length = this.#lengthOf(head);
    if (length === undefined) {
      this.#head = head;
      return head.length - held;
    }
    this.#head = noBytes;
    this.#left = length - held;
    return 0;
  }
}

const boxes = new Set(
  "ftyp styp moov moof mdat sidx ssix free skip wide uuid mfra emsg prft pdin meta udta pnot".split(
    " ",
  ),
);

/** Returns the length of a box of MP4 (ISO/IEC 14496-12). */
export function mp4BoxBytes(head: Buffer): number | undefined {
  if (head.length < 8) return undefined;
  if (!boxes.has(head.toString("latin1", 4, 8))) throw damaged("boxes of MP4");
  const length = head.readUInt32BE(0);
  // The last box may have no length.
  if (length === 0) return Infinity;
  if (length > 1) return Math.max(8, length);
  return head.length < 16 ? undefined : Math.max(16, Number(head.readBigUInt64BE(8)));
}

/** Elements of Matroska (RFC 9559) that contain the elements that follow. */
const masters = new Set([0x18538067, 0x1f43b675]);
/** The others: the header, what a segment has once, what a cluster has, and what fills space. */
const elements = new Set([
  0x1a45dfa3, 0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1941a469, 0x1043a770, 0x1254c367,
  0xe7, 0xa3, 0xa0, 0xa7, 0xab, 0xaf, 0x5854, 0xec, 0xbf,
]);

/** Returns the length of an element of Matroska; of a segment and a cluster, that of its header. */
export function matroskaElementBytes(head: Buffer): number | undefined {
  const idBytes = Math.clz32((head[0] ?? 0) << 24) + 1;
  if (idBytes > 4) throw damaged("elements of Matroska");
  if (head.length < idBytes) return undefined;
  const id = head.readUIntBE(0, idBytes);
  if (!masters.has(id) && !elements.has(id)) throw damaged("elements of Matroska");
  if (head.length === idBytes) return undefined;
  const sizeBytes = Math.clz32((head[idBytes] ?? 0) << 24) + 1;
  if (sizeBytes > 8) throw damaged("elements of Matroska");
  const start = idBytes + sizeBytes;
  if (head.length < start) return undefined;
  if (masters.has(id)) return start;
  let size = (head[idBytes] ?? 0) & (0xff >> sizeBytes);
  for (const byte of head.subarray(idBytes + 1, start)) size = size * 256 + byte;
  return start + size;
}
