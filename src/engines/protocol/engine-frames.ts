import type { WordTime } from "./alignment.ts";
import type { EngineAbsence } from "./engine-absence.ts";
import type { Effort, Hint, RecognitionMode } from "./engine.ts";
import type { LoadReport } from "./load-report.ts";
import type { Recognition, WindowSpeakers } from "./recognizer.ts";
import type { Commit, SessionCheckpoint } from "./session-checkpoint.ts";

/**
 * The kinds of messages on the pipes between the service and an engine process. The index in this
 * list is the number on the pipe.
 */
export const frameKinds = [
  // Sent to the engine process. Audio is 16-bit samples in the machine's byte order.
  "open",
  "audio",
  // Sent in both directions: utterances (kept-outputs.ts), to align or just recognized.
  "outputs",
  "endUtterance",
  "effort",
  "endInput",
  "close",
  // Sent from the engine process. ready, failed and load concern the process and carry session 0.
  "ready",
  "failed",
  "load",
  "interim",
  "speechEvent",
  "committed",
  "speakers",
  "aligned",
  "received",
  "progress",
  "working",
  "done",
  "error",
  // The process shall listen for front processes: sent to it, and in answer by it.
  "listen",
  "listening",
  // The first frame of a front process.
  "enter",
] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface Frame {
  readonly kind: FrameKind;
  readonly session: number;
  readonly payload: Buffer;
  /** The payload of a frame from an engine node, which was parsed to check it. */
  readonly parsed?: unknown;
}

/** RecognitionOptions with the pool's defaults applied. */
export interface SessionOptions {
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  readonly sampleRateHertz: number;
  readonly alternativesMax: number;
  readonly interim: boolean;
  readonly silenceMsMin: number;
  readonly utteranceMsMax?: number;
  readonly hints?: readonly Hint[];
  /** Whether the text keeps the punctuation of models that write it. */
  readonly punctuation: boolean;
  readonly speechEvents?: boolean;
  /** Whether to report the outputs of utterances. */
  readonly keepsOutputs?: boolean;
}

/** The payload of open. */
export interface OpenSession {
  readonly options: SessionOptions;
  /** The words to align, if the session aligns words instead of recognizing speech. */
  readonly words?: readonly string[];
  /** The length of the window, if the words are aligned to outputs instead of samples. */
  readonly outputsMs?: number;
  /** The state in which the previous process stopped. */
  readonly checkpoint?: SessionCheckpoint;
  /**
   * Whether a process crashed while it had this session. The next process then reports each slice
   * of work on the session before it begins, until the session commits.
   */
  readonly isSuspect: boolean;
  /**
   * The place in a trace (W3C Trace Context) at which the session is opened; absent without
   * tracing. An engine node continues the trace there; an earlier version ignores the field.
   */
  readonly traceparent?: string;
}

/** The engine of a process that is ready. */
export interface EngineDescription {
  readonly name: string;
  readonly languageCodes: readonly string[];
  readonly takesHints: boolean;
  readonly alignsWords: boolean;
  /** The expected cost of full effort (Engine.fullEffort), if the engine has it. */
  readonly fullEffort?: number;
  /** The model, if its outputs can be kept and aligned (Engine.outputs). */
  readonly outputsModel?: string;
  /** The maximum number of sessions, if a server elsewhere does the work (Engine.server). */
  readonly sessionsMax?: number;
}

/** The payload of ready. */
export interface ReadyProcess {
  readonly engine: EngineDescription;
  /** The CPU seconds that one second of live speech takes, measured when the engine was loaded. */
  readonly cpuPerSpeech: number;
  /** Set if the server of a hosted model cannot recognize now. */
  readonly absence?: EngineAbsence;
}

/** The payload of listen: where front processes connect, and the credential that they send. */
export interface ListenAt {
  readonly socketPath: string;
  readonly credential: string;
}

/**
 * The payloads that are JSON. The payload of audio is samples, that of outputs is utterances; all
 * others are empty. A frame of kind `working` has the number of the suspect session that is being
 * worked on, or 0 for none.
 */
export interface JsonPayloads {
  readonly open: OpenSession;
  /** The effort of the utterances that begin after this frame. */
  readonly effort: Effort;
  readonly ready: ReadyProcess;
  readonly load: LoadReport;
  readonly interim: Recognition;
  readonly speechEvent: Recognition;
  readonly committed: Commit;
  readonly speakers: WindowSpeakers;
  readonly aligned: readonly WordTime[];
  /** The number of input samples processed since the last frame of this kind. */
  readonly received: number;
  /** The number of samples of the stream that have been recognized, counted from its start. */
  readonly progress: number;
  readonly failed: { readonly message: string };
  readonly error: {
    readonly message: string;
    readonly stack?: string;
    /** Set if the server of a hosted model is the cause, not the audio. */
    readonly absence?: EngineAbsence;
    /** Set if it answers this audio with an error (AudioFailed.answer). */
    readonly answer?: string;
  };
  readonly listen: ListenAt;
  /** Whether it listens. */
  readonly listening: boolean;
  /** The credential. */
  readonly enter: string;
}

/** Payload length, session, kind: 32 bits each, little-endian. */
export const headerBytes = 12;
/** The size of a memory block. Buffered frames are written immediately if they exceed it. */
const blockBytes = 64 << 10;
/** The number of blocks kept for future writes. */
const sparesMax = 8;

/** Takes the bytes of frames: a pipe, or the connection to an engine node. */
export interface FrameSink {
  readonly writable: boolean;
  /** Takes bytes, and calls back once it no longer uses them. */
  write(bytes: Buffer, done: () => void): unknown;
}

/**
 * Writes the frames of all sessions to a pipe, together at the end of a turn of the event loop. The
 * busier the process, the more frames share a write. Waiting longer would take less CPU but add
 * latency (bench/RESULTS.md).
 */
export class FrameWriter {
  readonly #stream: FrameSink;
  #block: Buffer = Buffer.allocUnsafeSlow(blockBytes);
  #filled = 0;
  readonly #spares: Buffer[] = [];
  /** Whether the next write is scheduled. */
  #isDue = false;

  constructor(stream: FrameSink) {
    this.#stream = stream;
  }

  /** Writes a frame. The caller may reuse `payload` immediately. */
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

  /** Writes a frame immediately, together with all buffered frames. */
  writeNow(kind: FrameKind, session: number): void {
    this.write(kind, session);
    this.flush();
  }

  /** Writes the buffered frames without waiting for more. */
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

  /** Writes the header of a frame. Returns the position of its payload. */
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

  /** Completes a frame, which is sent at the end of this turn of the event loop. */
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

/**
 * The error for bytes that are not a frame, or not one of its kind: the memory of the other process
 * is corrupt. Its message never has what was received.
 */
export class GarbledFrame extends Error {}

/**
 * Reads a JSON payload. Throws GarbledFrame if it is not JSON. The cast is safe: both ends of a
 * pipe are this same program, and the frames of engine nodes are checked before
 * (nodes/check-frames.ts).
 */
export function jsonPayload<Kind extends keyof JsonPayloads>(
  kind: Kind,
  frame: Frame,
): JsonPayloads[Kind] {
  if (frame.kind !== kind) throw new GarbledFrame(`a ${frame.kind} frame is not ${kind}`);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  return (frame.parsed ?? parsed(frame)) as JsonPayloads[Kind];
}

function parsed({ kind, payload }: Frame): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    // The error of JSON.parse() shows a part of the payload.
    throw new GarbledFrame(`the payload of a ${kind} frame is not JSON`);
  }
}

/** Returns samples as bytes, without a copy. */
export function bytesOfSamples(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/**
 * Returns bytes as samples. The memory is shared if it is aligned to samples, which is nearly
 * always the case.
 */
export function samplesOfBytes(bytes: Uint8Array): Int16Array {
  const { BYTES_PER_ELEMENT } = Int16Array;
  const isAligned = bytes.byteOffset % BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset } = isAligned ? bytes : new Uint8Array(bytes);
  return new Int16Array(buffer, byteOffset, bytes.byteLength / BYTES_PER_ELEMENT);
}
