import { AudioError } from "../audio/audio-error.ts";
import { describeForeign } from "../audio/probe-media.ts";
import type { StreamFormat } from "../audio/stream-framers.ts";
import { sniffMediaType, sniffedBytesMax } from "../media/sniff-media-type.ts";

/** The encodings of RecognitionConfig that have to be decoded. */
export type ContainerEncoding = "FLAC" | "OGG_OPUS" | "MP3" | "GUESS" | "ENCODING_UNSPECIFIED";

/** A format of audio: "wav" is decoded by this process, any other by ffmpeg. */
export type ContainerFormat = StreamFormat | "wav";

const formats: Readonly<Record<string, ContainerFormat>> = {
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "video/ogg": "ogg",
  "audio/webm": "matroska",
  "video/webm": "matroska",
  "audio/x-matroska": "matroska",
  "video/x-matroska": "matroska",
  "audio/mp4": "mov",
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "video/3gpp": "mov",
  "audio/mpeg": "mp3",
  "audio/aac": "aac",
  "audio/amr": "amr",
  "audio/amr-wb": "amr",
};
const guessed = "WAV, FLAC, Ogg, WebM, Matroska, MP4, MP3, AAC or AMR";
/** What the encodings that are not formats accept, for messages. */
const expectations: Readonly<Partial<Record<ContainerEncoding, string>>> = {
  GUESS: guessed,
  ENCODING_UNSPECIFIED: "WAV or FLAC, the only audio for which encoding may be absent",
};
const expectedFormats = { FLAC: "flac", OGG_OPUS: "ogg", MP3: "mp3" } as const;

/** The number of bytes in which the first page of Ogg names its codec. */
const oggHeadBytes = 36;
/** The boxes before the samples of an MP4 file are sought within this number of bytes. */
const mp4HeadBytesMax = 65_536;

/**
 * Returns the format of a stream from its first bytes, or undefined if more of them are needed.
 * `isWhole` states that no more follow. Throws AudioError, which names what the bytes look like, if
 * they are not of this encoding or cannot be decoded while they arrive.
 */
export function streamFormatOf(
  encoding: ContainerEncoding,
  head: Buffer,
  isWhole: boolean,
): ContainerFormat | undefined {
  const format = formatOf(encoding, head, isWhole);
  return format === "mov" ? streamedMp4(head, isWhole) : format;
}

/** Returns the format as streamFormatOf() does, for audio that need not be decoded in order. */
export function formatOf(
  encoding: ContainerEncoding,
  head: Buffer,
  isWhole: boolean,
): ContainerFormat | undefined {
  const type = sniffMediaType(head);
  const format = formats[type];
  const isEnough = isWhole || head.length >= sniffedBytesMax;
  if (format === undefined) {
    if (!isEnough && describeForeign(head) === undefined) return undefined;
    throw unlike(encoding, head);
  }
  if (encoding === "GUESS") return format;
  if (encoding === "ENCODING_UNSPECIFIED") {
    if (format === "wav" || format === "flac") return format;
    throw unlike(encoding, head);
  }
  if (format !== expectedFormats[encoding]) {
    throw new AudioError("audio", `looks like ${type}, not ${encoding}: GUESS accepts it`);
  }
  if (encoding === "OGG_OPUS") {
    if (head.length < oggHeadBytes && !isWhole) return undefined;
    if (!head.subarray(0, oggHeadBytes).includes("OpusHead")) {
      throw new AudioError("audio", "looks like Ogg without Opus, not OGG_OPUS: GUESS accepts it");
    }
  }
  return format;
}

function unlike(encoding: ContainerEncoding, head: Buffer): AudioError {
  const wanted = expectations[encoding] ?? encoding;
  return new AudioError("audio", `looks like ${describeAudio(head)}, not ${wanted}`);
}

/** Describes the first bytes of audio for a message. */
function describeAudio(head: Buffer): string {
  const type = sniffMediaType(head);
  if (formats[type] !== undefined || type.startsWith("audio/") || type.startsWith("video/")) {
    return type;
  }
  return describeForeign(head) ?? "no known format of audio";
}

/** Returns what the first bytes are if they are surely not bare samples. */
export function foreignOf(head: Uint8Array): string | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 64));
  const type = sniffMediaType(bytes);
  return type in formats ? type : undefined;
}

/** Returns "mov" if the index of an MP4 comes before its samples; undefined while that is open. */
function streamedMp4(head: Buffer, isWhole: boolean): "mov" | undefined {
  for (let at = 0; at + 8 <= head.length;) {
    const type = head.toString("latin1", at + 4, at + 8);
    if (type === "moov") return "mov";
    if (type === "mdat" || type === "moof") {
      const problem = "is MP4 whose index (moov) follows its samples, which cannot be streamed";
      throw new AudioError("audio", `${problem}: send fragmented MP4, or use speech:recognize`);
    }
    const size = head.readUInt32BE(at);
    at += size < 8 ? head.length : size;
  }
  return isWhole || head.length >= mp4HeadBytesMax ? "mov" : undefined;
}
