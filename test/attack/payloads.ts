import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** The size of a message at the former limit of every protocol. */
export const largestBytes = 32 << 20;

/** Returns `unit` repeated, up to `bytes`. */
export function filled(unit: string | readonly number[], bytes: number): Buffer {
  const one = Buffer.from(unit);
  return Buffer.alloc(bytes - (bytes % one.length), one);
}

/** Returns a length-delimited field of Protobuf. */
export function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Returns `head`, then `unit` as often as it fits, then `tail`. */
export function around(head: string, unit: string, tail: string, bytes = largestBytes): Buffer {
  const room = bytes - head.length - tail.length;
  return Buffer.concat([Buffer.from(head), filled(unit, room), Buffer.from(tail)]);
}

export function gzipped(bytes: Buffer): Buffer {
  return gzipSync(bytes, { level: 6 });
}

export function brotlied(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/**
 * Returns a megabyte of speakers' names, which the metadata of a transcript or job could contain
 * before it was limited.
 */
export function megabyteMetadata() {
  const speakers = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, at) => [`s${at}`, { name: "n".repeat(1_000) }]),
  );
  return { fileType: "AUDIO", languageCode: "is-IS", speakers };
}

const transcripts = "/hlust.transcripts.v1alpha1.Transcripts";
const speech = "/hlust.speech.v2beta1.Speech";
/** The paths of Connect and gRPC calls. */
export const rpc = {
  create: `${transcripts}/CreateTranscript`,
  get: `${transcripts}/GetTranscript`,
  list: `${transcripts}/ListTranscripts`,
  watch: `${transcripts}/WatchTranscriptJob`,
  recognize: `${speech}/Recognize`,
  stream: `${speech}/StreamingRecognize`,
  googleStream: "/google.cloud.speech.v1.Speech/StreamingRecognize",
} as const;
