import type { AudioError } from "./audio-error.ts";
import { cutShort, damaged as damagedBytes, type StreamFramer } from "./stream-framer.ts";

/** The maximum length of a frame. Frames of speech have some kilobytes. */
const frameBytesMax = 1 << 20;
/** The maximum length of a header of a frame (RFC 9639). */
const headerBytesMax = 16;
/** The maximum length of the metadata before the first frame, such as pictures. */
const metadataBytesMax = 1 << 24;
const streamInfoBytes = 34;
const none = Buffer.alloc(0);

/**
 * Puts a FLAC stream (RFC 9639) into pages of Ogg (RFC 3533), one page for each frame. A frame has
 * no length: it ends where its checksum is right and the next frame begins.
 */
export class FlacPages implements StreamFramer {
  /** The bytes from the current metadata block or frame on. */
  #held: Buffer = none;
  #hasMark = false;
  #isInFrames = false;
  #metadataBytes = 0;
  /** The checksum of the held bytes up to #scanned. */
  #crc = 0;
  #scanned = 0;
  #samples = 0;
  #pages = 0;

  *push(bytes: Uint8Array): Generator<Buffer> {
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#held = Buffer.concat([this.#held, given]);
    const pages: Buffer[] = [];
    try {
      if (!this.#isInFrames) this.#readMetadata(pages);
      if (this.#isInFrames) this.#readFrames(pages);
    } finally {
      yield Buffer.concat(pages);
    }
  }

  /** Returns the pages of the last frame. Throws AudioError if it is not whole. */
  end(): Buffer {
    if (this.#isInFrames && this.#held.length === 0) return none;
    const last = this.#isInFrames ? frameOf(this.#held, 0) : undefined;
    for (const byte of this.#held.subarray(this.#scanned)) this.#crc = crc16Step(this.#crc, byte);
    if (!last || this.#crc !== 0) throw cutShort();
    return this.#frame(this.#held, last.samples);
  }

  #readMetadata(pages: Buffer[]): void {
    if (!this.#hasMark) {
      if (this.#held.length < 4) return;
      if (this.#held.toString("latin1", 0, 4) !== "fLaC") throw damaged();
      this.#hasMark = true;
      this.#held = this.#held.subarray(4);
    }
    while (!this.#isInFrames && this.#held.length >= 4) {
      const type = this.#held.readUInt8(0);
      const end = 4 + this.#held.readUIntBE(1, 3);
      if (this.#metadataBytes + end > metadataBytesMax) throw damaged();
      if (this.#held.length < end) return;
      if (this.#pages === 0) {
        if ((type & 0x7f) !== 0 || end !== 4 + streamInfoBytes) throw damaged();
        pages.push(...this.#headerPages(this.#held.subarray(4, end)));
      }
      this.#metadataBytes += end;
      this.#isInFrames = (type & 0x80) !== 0;
      this.#held = this.#held.subarray(end);
    }
  }

  #readFrames(pages: Buffer[]): void {
    for (; this.#scanned + headerBytesMax <= this.#held.length; this.#scanned++) {
      const at = this.#scanned;
      if (at === 0 && !frameOf(this.#held, 0)) throw damaged();
      if (at > 0 && this.#crc === 0 && frameOf(this.#held, at)) {
        const { samples } = frameOf(this.#held, 0) ?? { samples: 0 };
        pages.push(this.#frame(this.#held.subarray(0, at), samples));
        this.#held = this.#held.subarray(at);
        this.#scanned = -1;
        this.#crc = 0;
        continue;
      }
      if (at > frameBytesMax) throw damaged();
      this.#crc = crc16Step(this.#crc, this.#held[at] ?? 0);
    }
    this.#held = Buffer.from(this.#held);
  }

  /** Returns the pages of the two headers (Ogg mapping of FLAC): stream information, comment. */
  #headerPages(streamInfo: Buffer): Buffer[] {
    const first = Buffer.from("\x7fFLAC\x01\x00\x00\x01fLaC\x00\x00\x00\x22", "latin1");
    const comment = Buffer.from("\x84\x00\x00\x08\0\0\0\0\0\0\0\0", "latin1");
    return [this.#page(Buffer.concat([first, streamInfo]), 2), this.#page(comment, 0)];
  }

  #frame(frame: Buffer, samples: number): Buffer {
    this.#samples += samples;
    const pages: Buffer[] = [];
    const pageBytesMax = 255 * 255;
    for (let at = 0; at <= frame.length; at += pageBytesMax) {
      pages.push(this.#page(frame.subarray(at, at + pageBytesMax), at > 0 ? 1 : 0));
    }
    return Buffer.concat(pages);
  }

  #page(content: Buffer, flags: number): Buffer {
    const full = Math.floor(content.length / 255);
    // A page of 255 full segments is continued by the next one.
    const lacing = full === 255 ? [] : [content.length % 255];
    const head = Buffer.alloc(27 + full + lacing.length);
    head.write("OggS", 0, "latin1");
    head.writeUInt8(flags, 5);
    head.writeBigUInt64LE(full === 255 ? 0xffff_ffff_ffff_ffffn : BigInt(this.#samples), 6);
    head.writeUInt32LE(1, 14);
    head.writeUInt32LE(this.#pages++, 18);
    head.writeUInt8(full + lacing.length, 26);
    head.fill(255, 27, 27 + full);
    for (const length of lacing) head.writeUInt8(length, 27 + full);
    const page = Buffer.concat([head, content]);
    page.writeUInt32LE(oggCrc(page), 22);
    return page;
  }
}

function damaged(): AudioError {
  return damagedBytes("frames of FLAC");
}

/** Returns the number of samples of the frame whose header is here; undefined if there is none. */
function frameOf(bytes: Buffer, at: number): { readonly samples: number } | undefined {
  const head = bytes.subarray(at, at + headerBytesMax);
  if (head.length < 6 || head[0] !== 0xff || ((head[1] ?? 0) & 0xfe) !== 0xf8) return undefined;
  const [sizeCode, rateCode] = [head.readUInt8(2) >> 4, head.readUInt8(2) & 15];
  const [channels, bits] = [head.readUInt8(3) >> 4, (head.readUInt8(3) >> 1) & 7];
  const isReserved = sizeCode === 0 || rateCode === 15 || channels > 10 || bits === 3;
  if (isReserved || (head.readUInt8(3) & 1) !== 0) return undefined;
  // The number of the frame is written like a character of UTF-8 with up to 7 bytes.
  const ones = Math.clz32(~(head.readUInt8(4) << 24));
  const sizeAt = 4 + (ones < 2 ? 1 : ones);
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  const end = sizeAt + sizeBytes + rateBytes;
  if (ones === 1 || ones > 7 || end >= head.length) return undefined;
  if (crc8(head.subarray(0, end)) !== head[end]) return undefined;
  const samples = sizeBytes > 0 ? head.readUIntBE(sizeAt, sizeBytes) + 1 : blockSizes[sizeCode];
  return { samples: samples ?? 0 };
}

const blockSizes = [
  0, 192, 576, 1152, 2304, 4608, 0, 0, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768,
];

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = crc8Table[crc ^ byte] ?? 0;
  return crc;
}

function crc16Step(crc: number, byte: number): number {
  return ((crc << 8) & 0xffff) ^ (crc16Table[(crc >> 8) ^ byte] ?? 0);
}

/** Returns the checksum of a page of Ogg whose own checksum is 0. */
export function oggCrc(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = (crc << 8) ^ (oggTable[(crc >>> 24) ^ byte] ?? 0);
  return crc >>> 0;
}

/** Returns the table of a checksum without reflection. */
function tableOf(polynomial: number, bits: 8 | 16 | 32): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit++) {
      const isSet = (crc & (1 << (bits - 1))) !== 0;
      crc = isSet ? (crc << 1) ^ polynomial : crc << 1;
    }
    return bits === 32 ? crc : crc & ((1 << bits) - 1);
  });
}

const crc8Table = tableOf(0x07, 8);
const crc16Table = tableOf(0x8005, 16);
const oggTable = tableOf(0x04c1_1db7, 32);
