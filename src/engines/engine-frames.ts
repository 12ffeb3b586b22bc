import type { Writable } from "node:stream";
import type { RecognitionMode } from "./engine.ts";
import type { Recognition } from "./recognizer.ts";

/** What goes over the pipes between the service and an engine process; its place in the list is its number. */
const frameKinds = [
  // To the engine process. Audio is 16-bit samples in the machine's byte order.
  "open",
  "audio",
  "endUtterance",
  "endInput",
  "close",
  // From it. ready and failed are of the process and carry session 0.
  "ready",
  "failed",
  "result",
  "heard",
  "done",
  "error",
] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface Frame {
  readonly kind: FrameKind;
  readonly session: number;
  readonly payload: Buffer;
}

/** Payload of open: RecognitionOptions with the defaults filled in that are the pool's. */
export interface SessionOptions {
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  readonly sampleRateHertz: number;
  readonly alternativesMax: number;
  readonly interim: boolean;
  readonly silenceMsMin: number;
  readonly utteranceMsMax?: number;
}

/** An engine as its process announces it. */
export interface EngineDescription {
  readonly name: string;
  readonly languageCodes: readonly string[];
}

/** Payloads that are JSON. Of the others, audio is samples and the rest are empty. */
export interface JsonPayloads {
  readonly open: SessionOptions;
  readonly ready: readonly EngineDescription[];
  readonly result: Recognition;
  readonly heard: number;
  readonly failed: { readonly message: string };
  readonly error: { readonly message: string; readonly stack?: string };
}

/** Payload length, session, kind: 32 bits each, little-endian. */
const headerBytes = 12;
/** Frames of all sessions are gathered this long for one write: measured, a write for each costs twice the CPU. */
const gatherMs = 5;

/** Writes frames to a pipe, gathered. */
export class FrameWriter {
  readonly #stream: Writable;
  #gathered: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** `payload` may be reused by the caller at once. */
  write(kind: FrameKind, session: number, payload: Uint8Array = new Uint8Array(0)): void {
    const frame = Buffer.allocUnsafe(headerBytes + payload.byteLength);
    frame.writeUInt32LE(payload.byteLength, 0);
    frame.writeUInt32LE(session, 4);
    frame.writeUInt32LE(frameKinds.indexOf(kind), 8);
    frame.set(payload, headerBytes);
    this.#gathered.push(frame);
    this.#timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  writeJson<Kind extends keyof JsonPayloads>(
    kind: Kind,
    session: number,
    payload: JsonPayloads[Kind],
  ): void {
    this.write(kind, session, Buffer.from(JSON.stringify(payload)));
  }

  /** Writes what is gathered without waiting for more. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = [];
    if (gathered.length > 0 && this.#stream.writable) this.#stream.write(Buffer.concat(gathered));
  }
}

/** Reads frames out of a pipe's chunks. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that this chunk completes; their payloads are views of it. */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= headerBytes) {
      const end = at + headerBytes + bytes.readUInt32LE(at);
      if (end > bytes.length) break;
      const kind = frameKinds[bytes.readUInt32LE(at + 8)];
      if (kind === undefined) throw new Error("the engine pipe carries something else");
      const payload = bytes.subarray(at + headerBytes, end);
      yield { kind, session: bytes.readUInt32LE(at + 4), payload };
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }
}

/** The one cast: both ends of the pipe are this same program. */
export function jsonPayload<Kind extends keyof JsonPayloads>(
  kind: Kind,
  frame: Frame,
): JsonPayloads[Kind] {
  if (frame.kind !== kind) throw new Error(`a ${frame.kind} frame is not ${kind}`);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(frame.payload.toString()) as JsonPayloads[Kind];
}

/** Samples as bytes, without a copy. */
export function bytesOfSamples(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Bytes as samples of their own. */
export function samplesOfBytes(bytes: Uint8Array): Int16Array {
  return new Int16Array(new Uint8Array(bytes).buffer);
}
