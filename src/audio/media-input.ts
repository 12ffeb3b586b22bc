import type { FileHandle } from "node:fs/promises";

/**
 * ffmpeg's names for the demuxers of recordings, without those of playlists, images, scripts and
 * devices.
 */
const formats = (
  "wav w64 aiff caf au flac wv tta ape tak mpc mpc8 dsf voc mp3 aac loas ac3 eac3 dts amr gsm nistsphere dss oma qcp " +
  "ogg matroska webm mov mp4 m4a 3gp avi asf flv mpeg mpegts mxf gxf dv rm wtv"
).split(" ");

/** Parameters that let ffmpeg and ffprobe open only this file, and only as a recording. */
export const inputParameters: readonly string[] = (
  `-hide_banner -max_alloc 268435456 -protocol_whitelist file -format_whitelist ${formats.join()} ` +
  "-max_streams 64 -probesize 5000000 -analyzeduration 10000000"
).split(" ");

const id3HeadBytes = 10;

/**
 * Returns the parameters that name the format, if ffmpeg may guess wrong. ffmpeg checks only the
 * start of the file, which is a picture if the recording has a large ID3 tag. Returns no parameters
 * if ffmpeg guesses right.
 */
export async function formatParameters(file: FileHandle): Promise<readonly string[]> {
  let at = 0;
  for (let tags = 0; tags < 4; tags++) {
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(id3HeadBytes),
      position: at,
    });
    const head = buffer.subarray(0, bytesRead);
    if (head.length === id3HeadBytes && head.toString("latin1", 0, 3) === "ID3") {
      at += id3Bytes(head);
      continue;
    }
    const format = at > 0 ? formatOf(head) : undefined;
    return format === undefined ? [] : ["-f", format];
  }
  return [];
}

/**
 * Returns the length of an ID3 tag. The header stores the length of the content in four bytes of
 * seven bits each. A flag means that the header is repeated at the end.
 */
function id3Bytes(head: Buffer): number {
  const [flags = 0, ...size] = head.subarray(5);
  const length = size.reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return id3HeadBytes + length + (flags & 0x10 ? id3HeadBytes : 0);
}

function formatOf(head: Buffer): string | undefined {
  if (head.length < 4) return undefined;
  if (head.toString("latin1", 0, 4) === "fLaC") return "flac";
  const sync = head.readUInt16BE(0);
  // MPEG audio begins with eleven sync bits. Layer 0 is AAC; version 1 and these rates are
  // reserved.
  if ((sync & 0xfff6) === 0xfff0) return "aac";
  const isMpeg = (sync & 0xffe0) === 0xffe0 && (sync & 0x18) !== 0x08 && (sync & 0x06) !== 0;
  const rates = head.readUInt8(2);
  return isMpeg && rates >> 4 !== 15 && (rates & 0x0c) !== 0x0c ? "mp3" : undefined;
}
