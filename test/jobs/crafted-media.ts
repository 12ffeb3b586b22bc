import { crc32 } from "node:zlib";

// Media files that are built byte by byte, for headers that no encoder writes. Their audio has one
// channel at 16 kHz.

export interface WavHeader {
  readonly format?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  /** The size of the data according to the header. Default: the actual size. */
  readonly dataBytes?: number;
}

/** Builds a WAV file from these bytes of data, with the given header. */
export function craftWav(data: Buffer, header: WavHeader = {}): Buffer {
  const { format = 1, channels = 1, rate = 16_000, bits = 16, dataBytes = data.length } = header;
  const start = Buffer.alloc(44);
  const frameBytes = (channels * bits) / 8;
  start.write("RIFF");
  start.writeUInt32LE(Math.min(0xffff_ffff, 36 + dataBytes), 4);
  start.write("WAVEfmt ", 8);
  start.writeUInt32LE(16, 16);
  start.writeUInt16LE(format, 20);
  start.writeUInt16LE(channels, 22);
  start.writeUInt32LE(rate, 24);
  start.writeUInt32LE((rate * frameBytes) % 2 ** 32, 28);
  start.writeUInt16LE(frameBytes % 2 ** 16, 32);
  start.writeUInt16LE(bits, 34);
  start.write("data", 36);
  start.writeUInt32LE(dataBytes, 40);
  return Buffer.concat([start, data]);
}

export interface MovOptions {
  /** The duration according to every header, in samples. */
  readonly duration?: bigint;
  readonly tracks?: number;
  /** The number of entries in the edit list, each for the first sample. Default: none. */
  readonly edits?: number;
  /** The location of the samples according to the file. Default: the file itself. */
  readonly dataUrl?: string;
}

/** Builds a QuickTime file of 16-bit samples, which all its tracks play. */
export function craftMov(samples: Buffer, options: MovOptions = {}): Buffer {
  const { tracks = 1 } = options;
  const start = box("ftyp", "qt  ", u32(0), "qt  ");
  const duration = u64(options.duration ?? BigInt(samples.length / 2));
  const header = box("mvhd", u32(1 << 24), u64(0n, 0n), u32(16_000), duration, Buffer.alloc(80));
  const track = movTrack(samples.length / 2, duration, start.length + 8, options);
  const movie = box("moov", header, ...Array.from({ length: tracks }, () => track));
  return Buffer.concat([start, box("mdat", samples), movie]);
}

function movTrack(
  count: number,
  duration: Buffer,
  offset: number,
  { edits = 0, dataUrl }: MovOptions,
): Buffer {
  const isHere = dataUrl === undefined;
  const place = box("url ", u32(isHere ? 1 : 0), isHere ? "" : `${dataUrl}\0`);
  const entry = box("sowt", u16(0, 0, 0, 1), u32(0, 0), u16(1, 16, 0, 0, 16_000, 0));
  const table = box(
    "stbl",
    box("stsd", u32(0, 1), entry),
    box("stts", u32(0, 1, count, 1)),
    box("stsc", u32(0, 1, 1, count, 1)),
    box("stsz", u32(0, 2, count)),
    box("stco", u32(0, 1, offset)),
  );
  const information = [box("smhd", u32(0, 0)), box("dinf", box("dref", u32(0, 1), place)), table];
  const media = box(
    "mdia",
    box("mdhd", u32(1 << 24), u64(0n, 0n), u32(16_000), duration, u32(0)),
    box("hdlr", u32(0), "mhlrsoun", Buffer.alloc(13)),
    box("minf", ...information),
  );
  const edit = u32(1, 0, 1 << 16);
  const list = box("edts", box("elst", u32(0, edits), Buffer.alloc(edits * edit.length, edit)));
  const header = box(
    "tkhd",
    u32((1 << 24) | 1),
    u64(0n, 0n),
    u32(1, 0),
    duration,
    Buffer.alloc(60),
  );
  return box("trak", header, ...(edits > 0 ? [list] : []), media);
}

function box(type: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  const length = body.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(length), Buffer.from(type), ...body]);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

function u64(...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64BE(value, 8 * index);
  return bytes;
}

const flacBlock = 1_152;

/** The remainders of every byte, for checks of 8 and 16 bits. */
const [table8, table16] = [remainders(8, 0x07), remainders(16, 0x8005)];

function remainders(width: 8 | 16, polynomial: number): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let value = byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) {
      value <<= 1;
      if (value >> width) value ^= polynomial | (1 << width);
    }
    return value;
  });
}

/**
 * Builds a FLAC file of silence, with about 13 bytes per 72 ms. `declaredSamples` is the number of
 * samples according to the header; 0 means unknown.
 */
export function craftFlac(seconds: number, declaredSamples: number): Buffer {
  const frames = Math.ceil((seconds * 16_000) / flacBlock);
  const start = Buffer.alloc(42);
  start.write("fLaC");
  // The last metadata block, of type 0 (STREAMINFO), with 34 bytes.
  start.writeUInt32BE(0x8000_0022, 4);
  start.writeUInt16BE(flacBlock, 8);
  start.writeUInt16BE(flacBlock, 10);
  const facts = (16_000n << 44n) | (15n << 36n) | BigInt(declaredSamples);
  start.writeBigUInt64BE(facts, 18);
  const bytes = Buffer.alloc(start.length + frames * 16);
  let length = start.copy(bytes);
  for (let frame = 0; frame < frames; frame++) length = writeFrame(bytes, length, frame);
  return bytes.subarray(0, length);
}

/** Writes a frame of one constant subframe; the frame number is encoded like a UTF-8 character. */
function writeFrame(bytes: Buffer, at: number, number: number): number {
  // 1152 samples at 16 kHz, with one channel of 16 bits.
  let end = bytes.writeUInt32BE(0xfff8_3508, at);
  if (number < 0x80) end = bytes.writeUInt8(number, end);
  else {
    const more = number < 0x800 ? 1 : number < 0x1_0000 ? 2 : 3;
    end = bytes.writeUInt8(((0xff00 >> (more + 1)) & 0xff) | (number >> (6 * more)), end);
    for (let shift = 6 * (more - 1); shift >= 0; shift -= 6) {
      end = bytes.writeUInt8(0x80 | ((number >> shift) & 0x3f), end);
    }
  }
  end = bytes.writeUInt8(remainder(bytes.subarray(at, end), table8), end);
  end = bytes.writeUIntBE(0, end, 3);
  return bytes.writeUInt16BE(remainder(bytes.subarray(at, end), table16), end);
}

/** Returns the cyclic redundancy check of these bytes. */
function remainder(bytes: Buffer, table: Uint16Array): number {
  let value = 0;
  const isShort = table === table8;
  for (const byte of bytes) {
    value = isShort
      ? (table[value ^ byte] ?? 0)
      : ((value << 8) & 0xffff) ^ (table[(value >> 8) ^ byte] ?? 0);
  }
  return value;
}

/**
 * Builds a PNG picture whose header declares `size` by `size` pixels. Its data (1.2 MB) is that of
 * a picture of one color: the data looks like frames of telephone audio, and is longer than the
 * part that ffmpeg examines.
 */
export function craftPng(size: number): Buffer {
  const header = Buffer.concat([u32(size, size), Buffer.of(8, 0, 0, 0, 0)]);
  const chunks = [
    pngChunk("IHDR", header),
    pngChunk("IDAT", Buffer.alloc(1_200_000, Buffer.from("03060c183060c08001", "hex"))),
    pngChunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([u32(data.length), body, u32(crc32(body))]);
}

/** Returns an MP3 file with a picture as its cover, in an ID3 tag before its own ID3 tag. */
export function withPicture(mp3: Buffer, png: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from("\0image/png\0\x03\0", "latin1"), png]);
  const frame = Buffer.concat([Buffer.from("APIC"), u32(body.length), u16(0), body]);
  const sizes = [21, 14, 7, 0].map((shift) => (frame.length >> shift) & 0x7f);
  return Buffer.concat([Buffer.from("ID3\x03\0\0"), Buffer.from(sizes), frame, mp3]);
}
