import { zstdDecompressSync } from "node:zlib";
import type { SegmentJson, WordJson } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { StoredSegments } from "./segments.ts";

/**
 * Tags of fields that are messages or strings (number << 3 | 2), and tags of the numbers in a
 * Duration.
 */
const tags = { segments: 0x1a, startTime: 0x0a, endTime: 0x12, words: 0x1a, speakerId: 0x22 };
const wordTag = 0x1a;
/** Field 100, a float (100 << 3 | 5), as a varint. */
const confidenceTag = [0xa5, 0x06] as const;
/** Field 101, a string (101 << 3 | 2), as a varint. */
const spokenTag = [0xaa, 0x06] as const;
/** Field 102, a bool (102 << 3 | 0), as a varint. */
const estimatedTimesTag = [0xb0, 0x06] as const;
const durationTags = { seconds: 0x08, nanos: 0x10 };

/** The maximum number of bytes of a length prefix. */
const lengthBytesMax = 5;

/**
 * Converts stored segments to field 3 of a Transcript in the binary form of Protobuf. It is written
 * without the library, which takes ten times as long, and runs in a worker thread for long
 * transcripts.
 */
export function wireSegments({
  jsonZstd,
  jsonBytes,
}: Pick<StoredSegments, "jsonZstd" | "jsonBytes">): Uint8Array<ArrayBuffer> {
  const json = zstdDecompressSync(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) });
  const segments: SegmentJson[] = JSON.parse(json.toString());
  // No field is longer in binary than its name and value in JSON.
  const out = new WireOut(jsonBytes + lengthBytesMax);
  for (const segment of segments) out.message(tags.segments, () => putSegment(out, segment));
  return out.bytes();
}

function putSegment(out: WireOut, segment: SegmentJson): void {
  out.duration(tags.startTime, segment.startTime);
  out.duration(tags.endTime, segment.endTime);
  for (const word of segment.words ?? []) out.message(tags.words, () => putWord(out, word));
  out.text(tags.speakerId, segment.speakerId);
}

function putWord(out: WireOut, given: WordJson): void {
  const { startTime, endTime, word, confidence, spoken, estimatedTimes } = given;
  out.duration(tags.startTime, startTime);
  out.duration(tags.endTime, endTime);
  out.text(wordTag, word);
  if (typeof confidence === "number") out.float(confidenceTag, confidence);
  if (spoken !== undefined) out.longTagText(spokenTag, spoken);
  if (estimatedTimes === true) out.true(estimatedTimesTag);
}

class WireOut {
  readonly #out: Buffer;
  #at = 0;

  constructor(bytesMax: number) {
    this.#out = Buffer.allocUnsafeSlow(bytesMax);
  }

  /** Returns all written bytes, in a separate buffer. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#out.subarray(0, this.#at));
  }

  /**
   * Writes the fields that `put` writes as a message. The length of the message is only known
   * afterwards, so the message is then moved to make room for the length.
   */
  message(tag: number, put: () => void): void {
    this.#out[this.#at] = tag;
    const lengthAt = this.#at + 1;
    const start = lengthAt + 1;
    this.#at = start;
    put();
    const end = this.#at;
    this.#at = lengthAt;
    const bytes = lengthBytes(end - start);
    if (bytes > 1) this.#out.copyWithin(lengthAt + bytes, start, end);
    this.#varint(end - start);
    this.#at = end + bytes - 1;
  }

  text(tag: number, text = ""): void {
    if (text === "") return;
    this.#out[this.#at++] = tag;
    this.#varint(Buffer.byteLength(text));
    this.#at += this.#out.write(text, this.#at);
  }

  /** Writes a text, even an empty one, after a tag of two bytes. */
  longTagText(tag: readonly [number, number], text: string): void {
    for (const byte of tag) this.#out[this.#at++] = byte;
    this.#varint(Buffer.byteLength(text));
    this.#at += this.#out.write(text, this.#at);
  }

  true(tag: readonly [number, number]): void {
    for (const byte of tag) this.#out[this.#at++] = byte;
    this.#out[this.#at++] = 1;
  }

  float(tag: readonly [number, number], value: number): void {
    for (const byte of tag) this.#out[this.#at++] = byte;
    this.#at = this.#out.writeFloatLE(value, this.#at);
  }

  /** Writes a duration given in proto3 JSON, such as "12.500s". */
  duration(tag: number, text: string | undefined): void {
    if (text === undefined) return;
    const point = text.indexOf(".");
    const end = text.length - 1;
    const seconds = Number(text.slice(0, point === -1 ? end : point));
    const nanos = point === -1 ? 0 : Number(text.slice(point + 1, end).padEnd(9, "0"));
    this.message(tag, () => {
      this.#number(durationTags.seconds, seconds);
      this.#number(durationTags.nanos, nanos);
    });
  }

  #number(tag: number, value: number): void {
    if (value === 0) return;
    this.#out[this.#at++] = tag;
    this.#varint(value);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80))
      this.#out[this.#at++] = (rest % 0x80) | 0x80;
    this.#out[this.#at++] = rest;
  }
}

function lengthBytes(length: number): number {
  let bytes = 1;
  for (let rest = length; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}
