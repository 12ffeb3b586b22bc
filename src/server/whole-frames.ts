import { isUtf8 } from "node:buffer";
import type { WebSocket } from "ws";

/** The part of ws that reads the bytes of a connection, with what it knows of them so far. */
interface Receiver {
  write(bytes: Buffer): boolean;
  /** The bytes of an incomplete frame. */
  readonly _bufferedBytes: number;
  /** The part of a frame that is next; 0: its first byte. */
  readonly _state: number;
  /** The type of an incomplete message; 0: none. */
  readonly _fragmented: number;
}

/** The first byte of a frame that is a whole message of text, or of bytes (RFC 6455, 5.2). */
const [wholeText, wholeBytes] = [0x81, 0x82];
const [maskBit, length16] = [0x80, 126];
const maskBytes = 4;
/** The mask of shorter frames is removed byte by byte. */
const shortBytes = 16;

/**
 * Reads the frames of a socket that are whole messages and arrive in one piece, as nearly all
 * frames do, and emits them as ws does. ws reads all others, and refuses those that are invalid. It
 * removes masks byte by byte, and passes each frame through a queue of its own (bench/RESULTS.md).
 */
export function readWholeFrames(socket: WebSocket): void {
  const receiver: unknown = Reflect.get(socket, "_receiver");
  // Another version of ws then reads all frames itself.
  if (!isReceiver(receiver)) return;
  const write = receiver.write.bind(receiver);
  receiver.write = (bytes) => {
    const isBetweenMessages =
      receiver._bufferedBytes === 0 && receiver._state === 0 && receiver._fragmented === 0;
    const at = isBetweenMessages ? emitFrames(socket, bytes) : 0;
    if (at === bytes.length) return true;
    return write(at === 0 ? bytes : bytes.subarray(at));
  };
}

function isReceiver(value: unknown): value is Receiver {
  return (
    typeof value === "object" &&
    value !== null &&
    "_bufferedBytes" in value &&
    "_state" in value &&
    "_fragmented" in value &&
    "write" in value
  );
}

/** Emits the frames at the beginning of some bytes. Returns the end of the last one. */
function emitFrames(socket: WebSocket, bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const end = emitFrame(socket, bytes, at);
    if (end === at) break;
    at = end;
  }
  return at;
}

/** Emits the frame at a position. Returns its end, or its start if ws has to read it. */
function emitFrame(socket: WebSocket, bytes: Buffer, start: number): number {
  const first = bytes[start];
  const second = bytes[start + 1] ?? 0;
  if ((first !== wholeText && first !== wholeBytes) || second < maskBit) return start;
  let length = second - maskBit;
  let at = start + 2;
  if (length >= length16) {
    if (length > length16 || at + 2 > bytes.length) return start;
    length = bytes.readUInt16BE(at);
    at += 2;
  }
  const [from, end] = [at + maskBytes, at + maskBytes + length];
  if (end > bytes.length) return start;
  applyMask(bytes, at, end);
  const payload = bytes.subarray(from, end);
  if (first === wholeText && !isUtf8(payload)) {
    // ws refuses it, and expects the mask.
    applyMask(bytes, at, end);
    return start;
  }
  socket.emit("message", payload, first === wholeBytes);
  return end;
}

/** Removes the mask that is at a position from the bytes after it, or applies it again. */
function applyMask(bytes: Buffer, maskAt: number, end: number): void {
  const from = maskAt + maskBytes;
  // Four bytes at a time, where memory is aligned to them.
  const unaligned = -(bytes.byteOffset + from) & 3;
  const isShort = end - from < shortBytes;
  const start = isShort ? end : from + unaligned;
  maskByBytes(bytes, { maskAt, at: from, end: start });
  if (isShort) return;
  const mask = bytes.readInt32LE(maskAt);
  const turned = (mask >>> (8 * unaligned)) | (mask << (32 - 8 * unaligned));
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (end - start) >> 2);
  for (let at = 0; at < words.length; at += 1) words[at] = (words[at] ?? 0) ^ turned;
  maskByBytes(bytes, { maskAt, at: start + 4 * words.length, end });
}

function maskByBytes(bytes: Buffer, range: { maskAt: number; at: number; end: number }): void {
  const { maskAt, end } = range;
  for (let { at } = range; at < end; at += 1) {
    bytes[at] = (bytes[at] ?? 0) ^ (bytes[maskAt + ((at - maskAt) & 3)] ?? 0);
  }
}
