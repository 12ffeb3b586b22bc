import { adtsFrameLength, mpegAudioFrameLength } from "../std/audio-frames.ts";

/** The number of bytes that sniffMediaType() examines. */
export const sniffedBytesMax = 4096;

const unknownType = "application/octet-stream";

/**
 * Returns the media type of a recording according to its first bytes, regardless of its declared
 * type. The type is audio/... or video/... for a known container, otherwise
 * application/octet-stream. It is never a type that a browser would execute.
 */
export function sniffMediaType(head: Uint8Array): string {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, sniffedBytesMax));
  for (const { at = 0, magic, type } of signatures) {
    if (bytes.toString("latin1", at, at + magic.length) === magic) {
      return typeof type === "string" ? type : type(bytes);
    }
  }
  return framedType(bytes) ?? unknownType;
}

interface Signature {
  /** The offset of `magic`. Default: 0. */
  readonly at?: number;
  /** The expected bytes, with one character per byte. */
  readonly magic: string;
  readonly type: string | ((bytes: Buffer) => string);
}

const signatures: readonly Signature[] = [
  { magic: "RIFF", type: riffType },
  { magic: "RF64", type: "audio/wav" },
  { magic: "BW64", type: "audio/wav" },
  { magic: "riff\x2e\x91\xcf\x11", type: "audio/x-w64" },
  { magic: "FORM", type: formType },
  { magic: "fLaC", type: "audio/flac" },
  { magic: "OggS", type: oggType },
  { magic: "ID3", type: "audio/mpeg" },
  { magic: "\x1a\x45\xdf\xa3", type: matroskaType },
  { at: 4, magic: "ftyp", type: mp4Type },
  { at: 4, magic: "moov", type: "video/quicktime" },
  { at: 4, magic: "mdat", type: "video/quicktime" },
  { at: 4, magic: "wide", type: "video/quicktime" },
  { magic: "#!AMR-WB\n", type: "audio/amr-wb" },
  { magic: "#!AMR\n", type: "audio/amr" },
  { magic: ".snd", type: "audio/basic" },
  { magic: "caff", type: "audio/x-caf" },
  { magic: "wvpk", type: "audio/x-wavpack" },
  { magic: "MAC ", type: "audio/x-ape" },
  { magic: "\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c", type: asfType },
  { magic: "FLV\x01", type: "video/x-flv" },
  { magic: "\0\0\x01\xba", type: "video/mpeg" },
  { magic: "\0\0\x01\xb3", type: "video/mpeg" },
];

function riffType(bytes: Buffer): string {
  const form = bytes.toString("latin1", 8, 12);
  if (form === "WAVE") return "audio/wav";
  return form === "AVI " ? "video/x-msvideo" : unknownType;
}

function formType(bytes: Buffer): string {
  const form = bytes.toString("latin1", 8, 12);
  return form === "AIFF" || form === "AIFC" ? "audio/aiff" : unknownType;
}

function oggType(bytes: Buffer): string {
  return bytes.includes("\x80theora", 0, "latin1") ? "video/ogg" : "audio/ogg";
}

/**
 * Returns the type of an EBML file, based on its doc type and the codec names (V_VP9, A_OPUS) of
 * its tracks, which are near the start.
 */
function matroskaType(bytes: Buffer): string {
  const container = bytes.includes("webm")
    ? "webm"
    : bytes.includes("matroska")
      ? "x-matroska"
      : "";
  if (container === "") return unknownType;
  const isAudio = bytes.includes("A_") && !bytes.includes("V_");
  return `${isAudio ? "audio" : "video"}/${container}`;
}

/** Brands of still images that use the same container. */
const pictures = /^(?:avi[fs]|hei[cfmsx]|hev[cmsx]|mi[af]1|msf1|crx |jp[2x] )$/;

function mp4Type(bytes: Buffer): string {
  const brand = bytes.toString("latin1", 8, 12);
  if (pictures.test(brand)) return unknownType;
  if (/^M4[ABP] $/.test(brand)) return "audio/mp4";
  if (brand === "qt  ") return "video/quicktime";
  return /^3g[p2]/.test(brand) ? "video/3gpp" : "video/mp4";
}

/** The GUID that precedes the stream properties of a video. */
const asfVideo = Buffer.from("c0ef19bc4d5bcf11a8fd00805f5c442b", "hex");

function asfType(bytes: Buffer): string {
  return bytes.includes(asfVideo) ? "video/x-ms-wmv" : "audio/x-ms-wma";
}

/**
 * Returns the type of a stream that has no header, only frames. Each frame begins where the
 * previous frame ends according to its length.
 */
function framedType(bytes: Buffer): string | undefined {
  if (isTransportStream(bytes, 0, 188) || isTransportStream(bytes, 4, 192)) return "video/mp2t";
  if (hasTwoFrames(bytes, adtsFrameLength)) return "audio/aac";
  if (hasTwoFrames(bytes, mpegAudioFrameLength)) return "audio/mpeg";
  return undefined;
}

function isTransportStream(bytes: Buffer, start: number, packet: number): boolean {
  const packets = 4;
  if (bytes.length < start + packet * (packets - 1) + 1) return false;
  return Array.from({ length: packets }, (_, index) => bytes[start + index * packet]).every(
    (sync) => sync === 0x47,
  );
}

function hasTwoFrames(bytes: Buffer, lengthAt: (bytes: Buffer, at: number) => number): boolean {
  const first = lengthAt(bytes, 0);
  return first > 0 && lengthAt(bytes, first) > 0;
}
