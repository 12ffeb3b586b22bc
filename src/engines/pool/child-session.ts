import type { RecognitionMode } from "../protocol/engine.ts";
import {
  bytesOfSamples,
  type Frame,
  type FrameWriter,
  jsonPayload,
} from "../protocol/engine-frames.ts";
import type { LiveDemand } from "./live-demand.ts";
import type { Recognition, WindowSpeakers } from "../protocol/recognizer.ts";
import type { Settled } from "../protocol/session-checkpoint.ts";

/**
 * Audio sent and not yet heard, in seconds. Who speaks live waits for little; a recording may as
 * well be there.
 */
const unheardSecondsMax = { live: 2, short: 30, job: 30 } as const;
/** Audio in one frame, so that no session holds the pipe. */
const frameSeconds = 0.1;

/** Whoever a session works for. */
export interface SessionOwner {
  readonly mode: RecognitionMode;
  readonly sampleRateHertz: number;
  /** Counts while it is live; it goes along to the next process. */
  readonly demand: LiveDemand;
  /** Seconds of audio given and not settled. */
  readonly unsettledSeconds: () => number;
  readonly interim: (recognition: Recognition) => void;
  readonly settled: (settled: Settled) => void;
  /** So many samples of the input are recognized, from its start. */
  readonly recognized?: (samples: number) => void;
  /** Of a session that tells speakers apart. */
  readonly speakers?: (speakers: WindowSpeakers) => void;
}

/** How a session in a process ends. */
export type SessionEnd =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The process has gone; with this session's work in hand, as far as it told. */
  | { readonly kind: "lost"; readonly wasInHand: boolean };

/** A session in an engine process, seen from the service. */
export class ChildSession {
  readonly id: number;
  readonly owner: SessionOwner;
  /** Resolves when the session is done, has failed, or is lost with its process. */
  readonly ended: Promise<SessionEnd>;
  readonly #writer: FrameWriter;
  readonly #resolve: (end: SessionEnd) => void;
  readonly #frameSamples: number;
  readonly #unheardSamplesMax: number;
  #unheardSamples = 0;
  #isInputEnded = false;
  /** An utterance was ended, and nothing settled since. */
  #isMarked = false;
  #isOver = false;
  /** Wakes the sender when there is room again, or nothing to send for. */
  #wake: (() => void) | undefined;

  constructor(id: number, owner: SessionOwner, writer: FrameWriter) {
    this.id = id;
    this.owner = owner;
    this.#writer = writer;
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#frameSamples = Math.ceil(owner.sampleRateHertz * frameSeconds);
    this.#unheardSamplesMax = unheardSecondsMax[owner.mode] * owner.sampleRateHertz;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the process owes it something. */
  get hasWork(): boolean {
    return this.#unheardSamples > 0 || this.#isMarked || this.#isInputEnded;
  }

  /**
   * Sends samples as the process hears them. A promise only where they have to wait: mostly they
   * are one frame, and go at once.
   */
  send(samples: Int16Array): Promise<void> | undefined {
    const hasRoom = this.#unheardSamples < this.#unheardSamplesMax;
    if (samples.length > this.#frameSamples || !hasRoom) return this.#sendParts(samples);
    if (!this.#isOver) this.#write(samples);
    return undefined;
  }

  async #sendParts(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += this.#frameSamples) {
      while (this.#unheardSamples >= this.#unheardSamplesMax && !this.#isOver) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#isOver) return;
      this.#write(samples.subarray(at, at + this.#frameSamples));
    }
  }

  #write(samples: Int16Array): void {
    this.#unheardSamples += samples.length;
    this.#writer.write("audio", this.id, bytesOfSamples(samples));
  }

  endUtterance(): void {
    if (this.#isOver) return;
    this.#isMarked = true;
    this.#writer.write("endUtterance", this.id);
  }

  endInput(): void {
    if (this.#isOver) return;
    this.#isInputEnded = true;
    this.#writer.write("endInput", this.id);
  }

  /** Takes what the process says of this session. */
  take(frame: Frame): void {
    switch (frame.kind) {
      case "interim":
        this.owner.interim(jsonPayload("interim", frame));
        break;
      case "settled":
        this.#isMarked = false;
        this.owner.settled(jsonPayload("settled", frame));
        break;
      case "speakers":
        this.owner.speakers?.(jsonPayload("speakers", frame));
        break;
      case "heard":
        this.#unheardSamples -= jsonPayload("heard", frame);
        this.#wake?.();
        break;
      case "recognized":
        this.owner.recognized?.(jsonPayload("recognized", frame));
        break;
      case "done":
        this.end({ kind: "done" });
        break;
      case "error": {
        const { message, stack } = jsonPayload("error", frame);
        const error = new Error(`in the engine process: ${message}`);
        if (stack !== undefined) error.stack = stack;
        this.end({ kind: "failed", error });
        break;
      }
      case "open":
      case "audio":
      case "endUtterance":
      case "endInput":
      case "close":
      case "ready":
      case "failed":
      case "load":
      case "working":
        throw new Error(`an engine process sent a ${frame.kind} frame of a session`);
    }
  }

  end(end: SessionEnd): void {
    this.#isOver = true;
    this.#resolve(end);
    this.#wake?.();
  }
}
