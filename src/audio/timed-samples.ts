import { AudioError } from "./audio-error.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * ffmpeg's name for the simplest container with times. Its chunks have a tag, milliseconds, a
 * length and samples.
 */
export const timedFormat = "smjpeg";

/**
 * The maximum difference between the time of a packet and the end of the samples before it. If the
 * difference is larger, samples are missing or repeated.
 */
const inexactMsMax = 100;
/** Silence is yielded in chunks of this length. */
const silenceMs = 500;
/** The maximum length of a packet. The packets of a decoder are far shorter. */
const packetBytesMax = 1 << 24;

/**
 * Reads the 16-bit samples of one channel that ffmpeg writes in timedFormat, and yields each sample
 * at its time from 0. Gaps become silence, and duplicates are dropped. ffmpeg's own filter for gaps
 * stores a whole gap in memory, and loses the audio after a long gap. Throws AudioError for a gap
 * of more than gapMsMax.
 */
export async function* readTimedSamples(
  written: AsyncIterable<Buffer>,
  samplesPerSecond: number,
  gapMsMax = Infinity,
): AsyncGenerator<Int16Array, void, undefined> {
  const samplesOfMs = (ms: number): number => Math.round((ms * samplesPerSecond) / 1000);
  let end = 0;
  for await (const packets of readPackets(written)) {
    let parts: Buffer[] = [];
    for (const { ms, bytes } of packets) {
      const late = samplesOfMs(ms) - end;
      const isExact = end > 0 && Math.abs(late) <= samplesOfMs(inexactMsMax);
      if (late > 0 && !isExact) {
        yield* inOne(parts);
        parts = [];
        if (late > samplesOfMs(gapMsMax)) {
          throw new AudioError("audio", jumps(late / samplesPerSecond));
        }
        yield* silence(late, samplesOfMs(silenceMs));
        end += late;
      }
      const rest = isExact ? bytes : bytes.subarray(2 * Math.max(0, -late));
      parts.push(rest);
      end += rest.length / 2;
    }
    yield* inOne(parts);
  }
}

function jumps(seconds: number): string {
  return `has no sound for ${seconds.toFixed(1)} s according to its times`;
}

function* inOne(parts: readonly Buffer[]): Generator<Int16Array, void, undefined> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length === 0) return;
  // All machines that Hlust runs on are little-endian, as the format is.
  const samples = new Int16Array(length / 2);
  const bytes = new Uint8Array(samples.buffer);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  yield samples;
}

function* silence(count: number, most: number): Generator<Int16Array, void, undefined> {
  const block = new Int16Array(Math.min(count, most));
  for (let left = count; left > 0; left -= most) yield block.subarray(0, left);
}

interface Packet {
  readonly ms: number;
  readonly bytes: Buffer;
}

/** Yields the packets that each read completes. */
async function* readPackets(
  written: AsyncIterable<Buffer>,
): AsyncGenerator<readonly Packet[], void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let isStarted = false;
  for await (const chunk of written) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    let at = 0;
    if (!isStarted) {
      if (held.length < startBytes) continue;
      isStarted = true;
      at = startBytes;
    }
    const packets: Packet[] = [];
    for (let found = chunkAt(held, at); found; found = chunkAt(held, at)) {
      at = found.end;
      if (found.packet) packets.push(found.packet);
    }
    held = held.subarray(at);
    yield packets;
  }
}

/** The length of the header: "\0\nSMJPEG", version, duration. */
const startBytes = 16;

/** Returns the chunk at this position, if it is complete. */
function chunkAt(bytes: Buffer, at: number): { end: number; packet?: Packet } | undefined {
  if (bytes.length < at + 4) return undefined;
  const tag = bytes.toString("latin1", at, at + 4);
  if (tag === "HEND" || tag === "DONE") return { end: at + 4 };
  const isSound = tag === "sndD";
  if (!isSound && tag !== "_SND" && tag !== "_TXT") throw unreadable();
  const start = at + (isSound ? 12 : 8);
  if (bytes.length < start) return undefined;
  const length = bytes.readUInt32BE(start - 4);
  if (length > packetBytesMax || (isSound && length % 2 !== 0)) throw unreadable();
  const end = start + length;
  if (bytes.length < end) return undefined;
  return isSound
    ? { end, packet: { ms: bytes.readUInt32BE(at + 4), bytes: bytes.subarray(start, end) } }
    : { end };
}

function unreadable(): ServiceError {
  return new ServiceError("data_loss", "the media is damaged: its audio cannot be decoded", {
    reason: "MEDIA_INVALID",
  });
}
