import {
  mpegAudioFrameLength,
  mpegAudioHeader,
  type MpegAudioHeader,
} from "../std/audio-frames.ts";
import { FrameStream } from "./frame-stream.ts";
import { noBytes, type StreamFramer } from "./stream-framer.ts";

/** The samples that every decoder of layer 3 adds to the start. */
const decoderSamples = 529;

/**
 * Puts the frames of MP3 into Matroska (RFC 9559), a cluster for each. ffmpeg's own reader of MP3
 * holds back 1024 bytes, whatever time they are.
 */
export class Mp3Blocks implements StreamFramer {
  readonly #frames = new FrameStream({ name: "MP3", headBytes: 4, lengthAt: mpegAudioFrameLength });
  #isStarted = false;
  #seconds = 0;
  #paddingSeconds = 0;

  get paddingSeconds(): number {
    return this.#paddingSeconds;
  }

  *push(bytes: Uint8Array): Generator<Uint8Array> {
    for (const frame of this.#frames.push(bytes)) {
      const header = mpegAudioHeader(frame, 0);
      if (!header) continue;
      if (!this.#isStarted) {
        this.#isStarted = true;
        yield startOf(header);
        const paddingSamples = infoFramePadding(frame, header);
        this.#paddingSeconds = (paddingSamples ?? 0) / header.samplesPerSecond;
        if (paddingSamples !== undefined) continue;
      }
      yield clusterOf(frame, Math.round(this.#seconds * 1000));
      this.#seconds += header.samples / header.samplesPerSecond;
    }
  }

  end(): Uint8Array {
    return this.#frames.end();
  }
}

/**
 * Returns how many samples the encoder has added to the start, if this frame has no sound but facts
 * about the file (Xing, Info, VBRI); undefined for a frame of sound.
 */
function infoFramePadding(frame: Buffer, { sideBytes }: MpegAudioHeader): number | undefined {
  if (frame.toString("latin1", 36, 40) === "VBRI") return 0;
  const at = 4 + sideBytes;
  const mark = frame.toString("latin1", at, at + 4);
  if (mark !== "Xing" && mark !== "Info") return undefined;
  const flags = frame[at + 7] ?? 0;
  // The numbers of frames and bytes, the table of contents and the quality are optional.
  const sizes = [4, 4, 100, 4].filter((_, bit) => (flags & (1 << bit)) !== 0);
  const encoderAt = sizes.reduce((sum, size) => sum + size, at + 8);
  if (!/^(?:LAME|Lav[cf])/.test(frame.toString("latin1", encoderAt, encoderAt + 4))) return 0;
  if (encoderAt + 24 > frame.length) return 0;
  return (frame.readUIntBE(encoderAt + 21, 3) >> 12) + decoderSamples;
}

/** Returns the header of the file, and of a segment without an end. */
function startOf({ samplesPerSecond, channels, isLayer3 }: MpegAudioHeader): Buffer {
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(samplesPerSecond);
  const audio = [element("b5", rate), element("9f", Buffer.of(channels))];
  const codec = Buffer.from(isLayer3 ? "A_MPEG/L3" : "A_MPEG/L2");
  const track = [
    element("d7", Buffer.of(1)),
    element("73c5", Buffer.of(1)),
    element("83", Buffer.of(2)),
    element("86", codec),
    element("e1", ...audio),
  ];
  return Buffer.concat([
    element("1a45dfa3", element("4282", Buffer.from("matroska"))),
    Buffer.from("1853806701ffffffffffffff", "hex"),
    element("1549a966", element("2ad7b1", Buffer.of(0x0f, 0x42, 0x40))),
    element("1654ae6b", element("ae", ...track)),
  ]);
}

function clusterOf(frame: Buffer, ms: number): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(ms));
  // Track 1, at the time of the cluster, a frame that needs no other.
  const block = element("a3", Buffer.of(0x81, 0, 0, 0x80), frame);
  return element("1f43b675", element("e7", time), block);
}

function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = content.length === 0 ? noBytes : Buffer.concat(content);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x1000_0000 + body.length);
  return Buffer.concat([Buffer.from(id, "hex"), size, body]);
}
