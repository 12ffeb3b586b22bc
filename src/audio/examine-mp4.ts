import type { FileHandle } from "node:fs/promises";

/** Boxes of MP4 and QuickTime files that contain the codecs and the edits, at some depth. */
const containers = new Set(["moov", "trak", "edts", "mdia", "minf", "stbl"]);
/** Boxes with which an MP4 or QuickTime file can begin. */
const firsts = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip"]);
/**
 * Sample entries of encrypted tracks: audio and video in the common encryption scheme and in
 * Apple's.
 */
const encrypted = new Set(["enca", "encv", "drms", "drmi"]);
/**
 * The maximum number of edits. Each edit of a track may play its audio again; a long film has
 * thousands of edits.
 */
const editsMax = 10_000;
/**
 * The maximum number of boxes. A film of 64 streams has about a thousand; a hostile file may have
 * any number.
 */
const boxesMax = 4_000;

/**
 * Returns the reason why an MP4 or QuickTime file is rejected, as a text that follows "the media
 * is", or undefined if the file is not rejected. An encrypted track would decode to noise, or to
 * nothing.
 */
export async function examineMp4(file: FileHandle, sizeBytes: number): Promise<string | undefined> {
  let at = 0;
  for (let boxes = 0; boxes < boxesMax && at < sizeBytes; boxes++) {
    const { buffer: head, bytesRead } = await file.read({ buffer: Buffer.alloc(24), position: at });
    const type = head.toString("latin1", 4, 8);
    if (bytesRead < 8 || (boxes === 0 && !firsts.has(type))) return undefined;
    const length = boxBytes(head, sizeBytes - at);
    if (length < 8) return undefined;
    // The entries follow a version and the number of entries.
    if (type === "stsd" && encrypted.has(head.toString("latin1", 20, 24))) {
      return "encrypted (DRM): it can be decoded only with its key";
    }
    if (type === "elst" && head.readUInt32BE(12) > editsMax) {
      return `a recording of more than ${editsMax} edits, which is not supported`;
    }
    // The content of a container follows its header, and is read like the next box.
    at += containers.has(type) ? 8 : length;
  }
  return undefined;
}

/**
 * Returns the length of a box. A length field of 1 means that 64 bits after the type have the
 * length; 0 means the rest of the file.
 */
function boxBytes(head: Buffer, left: number): number {
  const length = head.readUInt32BE(0);
  if (length === 0) return left;
  return length === 1 ? Number(head.readBigUInt64BE(8)) : length;
}
