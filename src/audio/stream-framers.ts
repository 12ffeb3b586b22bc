import { adtsFrameLength } from "../std/audio-frames.ts";
import { AmrFrames } from "./amr-frames.ts";
import { FlacPages } from "./flac-pages.ts";
import { FrameStream } from "./frame-stream.ts";
import { Mp3Blocks } from "./mp3-blocks.ts";
import { OggPages } from "./ogg-pages.ts";
import type { StreamFramer } from "./stream-framer.ts";
import { matroskaElementBytes, mp4BoxBytes, WalkedParts } from "./walked-parts.ts";

/** The formats that can be decoded while they arrive, as ffmpeg's names of their demuxers. */
export type StreamFormat = "flac" | "ogg" | "matroska" | "mov" | "mp3" | "aac" | "amr";

/** The share of the frames of speech that may be damaged inside. */
export const errorShareMax = 0.02;

/** The framer of each format, and ffmpeg's demuxer of the bytes that it yields. */
const framers: Readonly<Record<StreamFormat, [make: () => StreamFramer, demuxer: string]>> = {
  // ffmpeg's own readers of FLAC and MP3 hold back ten frames, and 1024 bytes.
  flac: [() => new FlacPages(), "ogg"],
  mp3: [() => new Mp3Blocks(), "matroska"],
  ogg: [() => new OggPages(), "ogg"],
  matroska: [() => new WalkedParts(matroskaElementBytes), "matroska"],
  mov: [() => new WalkedParts(mp4BoxBytes), "mov"],
  aac: [() => new FrameStream({ name: "AAC", headBytes: 7, lengthAt: adtsFrameLength }), "aac"],
  amr: [() => new AmrFrames(), "amr"],
};

export function framerOf(format: StreamFormat): { framer: StreamFramer; demuxer: string } {
  const [make, demuxer] = framers[format];
  return { framer: make(), demuxer };
}
