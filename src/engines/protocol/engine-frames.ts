import type { Writable } from "node:stream";
import type { PhraseHints, RecognitionMode } from "./engine.ts";
import type { LoadReport } from "./load-report.ts";
import type { Recognition, WindowSpeakers } from "./recognizer.ts";
import type { SessionCheckpoint, Settled } from "./session-checkpoint.ts";

/**
 * What goes over the pipes between the service and an engine process; its place in the list is its
 * number.
 */
const frameKinds = [
  // To the engine process. Audio is 16-bit samples in the machine's byte order.
  "open",
  "audio",
  "endUtterance",
  "endInput",
  "close",
  // From it. ready, failed and load are of the process and carry session 0.
  "ready",
  "failed",
  "load",
  "interim",
  "settled",
  "speakers",
  "heard",
  "recognized",
  "working",
  "done",
  "error",
] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface Frame {
  readonly kind: FrameKind;
  readonly session: number;
  readonly payload: Buffer;
}

/** What a session is to do: RecognitionOptions with the defaults filled in that are the pool's. */
export interface SessionOptions {
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  readonly sampleRateHertz: number;
  readonly alternativesMax: number;
  readonly interim: boolean;
  readonly silenceMsMin: number;
  readonly utteranceMsMax?: number;
  readonly hints?: readonly PhraseHints[];
  /** Whether the text keeps the punctuation of models that write it. */
  readonly punctuation: boolean;
}

/** Payload of open. */
export interface OpenSession {
  readonly options: SessionOptions;
  /** Where the process before it left off. */
  readonly checkpoint?: SessionCheckpoint;
  /**
   * A process died with this session: each piece of work on it is told before it begins, until it
   * has settled something.
   */
  readonly isSuspect: boolean;
}

/** An engine as its process announces it. */
export interface EngineDescription {
  readonly name: string;
  readonly languageCodes: readonly string[];
  readonly takesHints: boolean;
}

/** Payload of ready. */
export interface ReadyProcess {
  readonly engine: EngineDescription;
  /** CPU seconds that a second of live speech takes, measured before anybody waits for it. */
  readonly cpuPerSpeech: number;
}

/**
 * Payloads that are JSON. Of the others, audio is samples and the rest are empty; working is of a
 * session, or of none (0).
 */
export interface JsonPayloads {
  readonly open: OpenSession;
  readonly ready: ReadyProcess;
  readonly load: LoadReport;
  readonly interim: Recognition;
  readonly settled: Settled;
  readonly speakers: WindowSpeakers;
  readonly heard: number;
  /** Samples of the stream, from its start. */
  readonly recognized: number;
  readonly failed: { readonly message: string };
  readonly error: { readonly message: string; readonly stack?: string };
}

/** Payload length, session, kind: 32 bits each, little-endian. */
const headerBytes = 12;
/** No frame of ours is near as long; what says it is longer is no frame. */
const payloadBytesMax = 16 << 20;
/** Past this, what is gathered is written at once; a block of memory has this size. */
const blockBytes = 64 << 10;
/** Blocks kept for the next writes. */
const sparesMax = 8;

/**
 * Writes frames to a pipe, those of all sessions together: at the end of the turn of the event
 * loop, in which the more come the more there is to do. Waiting for more takes less CPU and more
 * time (bench/RESULTS.md). The pipe must be done with the bytes of a write when it calls back.
 */
export class FrameWriter {
  readonly #stream: Writable;
  #block: Buffer = Buffer.allocUnsafeSlow(blockBytes);
  #filled = 0;
  readonly #spares: Buffer[] = [];
  /** The next write is planned. */
  #isDue = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** `payload` may be reused by the caller at once. */
  write(kind: FrameKind, session: number, payload?: Uint8Array): void {
    const length = payload?.byteLength ?? 0;
    const at = this.#begin(kind, session, length);
    if (payload) this.#block.set(payload, at);
    this.#end();
  }

  writeJson<Kind extends keyof JsonPayloads>(
    kind: Kind,
    session: number,
    payload: JsonPayloads[Kind],
  ): void {
    const text = JSON.stringify(payload);
    const at = this.#begin(kind, session, Buffer.byteLength(text));
    this.#block.write(text, at);
    this.#end();
  }

  /** The same, with everything gathered so far, at once. */
  writeNow(kind: FrameKind, session: number): void {
    this.write(kind, session);
    this.flush();
  }

  /** Writes what is gathered without waiting for more. */
  flush(): void {
    if (this.#filled === 0) return;
    const [block, filled] = [this.#block, this.#filled];
    this.#block = this.#spares.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
    this.#filled = 0;
    if (!this.#stream.writable) return;
    this.#stream.write(block.subarray(0, filled), () => {
      if (block.length === blockBytes && this.#spares.length < sparesMax) this.#spares.push(block);
    });
  }

  /** Writes the header of a frame; returns where its payload goes. */
  #begin(kind: FrameKind, session: number, length: number): number {
    if (this.#filled + headerBytes + length > this.#block.length) {
      this.flush();
      if (headerBytes + length > blockBytes)
        this.#block = Buffer.allocUnsafeSlow(headerBytes + length);
    }
    const at = this.#filled;
    this.#block.writeUInt32LE(length, at);
    this.#block.writeUInt32LE(session, at + 4);
    this.#block.writeUInt32LE(frameKinds.indexOf(kind), at + 8);
    this.#filled = at + headerBytes + length;
    return at + headerBytes;
  }

  /** A frame is complete: it goes out with this turn of the event loop. */
  #end(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isDue = false;
    this.flush();
  };
}

/** Reads frames out of a pipe's chunks. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /**
   * The frames that this chunk completes; their payloads are views of it. Throws where no frame
   * begins.
   */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= headerBytes) {
      const length = bytes.readUInt32LE(at);
      const kind = frameKinds[bytes.readUInt32LE(at + 8)];
      if (kind === undefined || length > payloadBytesMax) {
        throw new Error("the engine pipe carries something else");
      }
      const end = at + headerBytes + length;
      if (end > bytes.length) break;
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

/**
 * Bytes as samples: of the same memory where they lie on a boundary of samples, as they nearly
 * always do.
 */
export function samplesOfBytes(bytes: Uint8Array): Int16Array {
  const { BYTES_PER_ELEMENT } = Int16Array;
  const isAligned = bytes.byteOffset % BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset } = isAligned ? bytes : new Uint8Array(bytes);
  return new Int16Array(buffer, byteOffset, bytes.byteLength / BYTES_PER_ELEMENT);
}
