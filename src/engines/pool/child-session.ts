import {
  bytesOfSamples,
  type Frame,
  type FrameWriter,
  GarbledFrame,
  jsonPayload,
} from "../protocol/engine-frames.ts";
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { Effort } from "../protocol/engine.ts";
import { utterancesOf } from "../protocol/kept-outputs.ts";
import type { InputPosition } from "../protocol/session-checkpoint.ts";
import type { SessionClient } from "./session-client.ts";

/**
 * The maximum seconds of audio that may be sent before the process confirms receiving it. For live
 * streams the limit keeps the delay short; recordings may run far ahead.
 */
const inFlightSecondsMax = { live: 2, short: 30, job: 30 } as const;
/** The maximum duration of audio per frame, so that no session monopolizes the pipe. */
const frameSeconds = 0.1;

/** The audio that a process may have received without a report: half a second, and a slice. */
export const unreportedSecondsMax = 1;

const inputStart: InputPosition = { samples: 0, flushMarkers: 0 };

/** How a session in a process ended. */
export type SessionEnd =
  | { readonly kind: "done" }
  /** `isReported`: the process reported the error, and another one might not have it. */
  | { readonly kind: "failed"; readonly error: unknown; readonly isReported?: boolean }
  /** The server of a hosted model answers this audio with an error. */
  | { readonly kind: "answered"; readonly answer: string; readonly error: Error }
  /** The server of a hosted model cannot recognize now. */
  | { readonly kind: "unavailable"; readonly absence: EngineAbsence }
  /**
   * The process has ended. `wasActive` is true if it was working on this session according to its
   * reports.
   */
  | { readonly kind: "lost"; readonly wasActive: boolean }
  /**
   * The session has to continue in another process, through no fault of its own: its engine node is
   * being stopped, or cannot be reached.
   */
  | { readonly kind: "moved" }
  /** The process is there, but does nothing for the session (ignored-sessions.ts). */
  | { readonly kind: "ignored" };

/** A session in an engine process, as seen by the service. */
export class ChildSession {
  readonly id: number;
  readonly client: SessionClient;
  /** Resolves when the session is done, has failed, or has been lost with its process. */
  readonly ended: Promise<SessionEnd>;
  readonly #writer: FrameWriter;
  readonly #resolve: (end: SessionEnd) => void;
  readonly #frameSamples: number;
  readonly #inFlightSamplesMax: number;
  readonly startPosition: InputPosition;
  #frames = 0;
  #inFlightSamples = 0;
  #sentSamples = 0;
  #sentMarkers = 0;
  #isInputEnded = false;
  /** Whether a flush marker was sent and nothing has been committed since then. */
  #isFlushing = false;
  #isOver = false;
  /** Wakes the sender when there is room again, or when there is no longer a reason to send. */
  #wake: (() => void) | undefined;

  /** Begins at a position of the input: that of the checkpoint, or its start. */
  constructor(
    id: number,
    client: SessionClient,
    writer: FrameWriter,
    startPosition: InputPosition = inputStart,
  ) {
    this.startPosition = startPosition;
    this.id = id;
    this.client = client;
    this.#writer = writer;
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#frameSamples = Math.ceil(client.sampleRateHertz * frameSeconds);
    this.#inFlightSamplesMax = inFlightSecondsMax[client.mode] * client.sampleRateHertz;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the process knows that there is no more input. */
  get isInputEnded(): boolean {
    return this.#isInputEnded;
  }

  /** The end of the input that was sent, from the start of the stream: samples, flush markers. */
  get endSamples(): number {
    return this.startPosition.samples + this.#sentSamples;
  }

  get endMarkers(): number {
    return this.startPosition.flushMarkers + this.#sentMarkers;
  }

  /** The samples sent so far that the process has not confirmed. */
  get inFlightSamples(): number {
    return this.#inFlightSamples;
  }

  /** The number of frames that the process has sent for this session. */
  get frames(): number {
    return this.#frames;
  }

  /** Whether the process must send something for this session, unless it is still working. */
  get isAnswerDue(): boolean {
    const unreportedMax = unreportedSecondsMax * this.client.sampleRateHertz;
    return this.#isInputEnded || this.#inFlightSamples > unreportedMax;
  }

  /** Whether the process still has work for this session. */
  get hasWork(): boolean {
    return this.#inFlightSamples > 0 || this.#isFlushing || this.#isInputEnded;
  }

  /**
   * Sends samples as fast as the process receives them. Returns a promise only if the samples have
   * to wait; usually they are a single frame, which is sent immediately.
   */
  send(samples: Int16Array): Promise<void> | undefined {
    const hasRoom = this.#inFlightSamples < this.#inFlightSamplesMax;
    if (samples.length > this.#frameSamples || !hasRoom) return this.#sendParts(samples);
    if (!this.#isOver) this.#write(samples);
    return undefined;
  }

  async #sendParts(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += this.#frameSamples) {
      while (this.#inFlightSamples >= this.#inFlightSamplesMax && !this.#isOver) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#isOver) return;
      this.#write(samples.subarray(at, at + this.#frameSamples));
    }
  }

  #write(samples: Int16Array): void {
    this.#inFlightSamples += samples.length;
    this.#sentSamples += samples.length;
    this.#writer.write("audio", this.id, bytesOfSamples(samples));
  }

  /** Sends the outputs of a window, in one frame. */
  sendOutputs(outputs: Uint8Array): void {
    if (!this.#isOver) this.#writer.write("outputs", this.id, outputs);
  }

  endUtterance(): void {
    if (this.#isOver) return;
    this.#isFlushing = true;
    this.#sentMarkers += 1;
    this.#writer.write("endUtterance", this.id);
  }

  /** Sends the effort of the utterances that begin from here on. */
  setEffort(effort: Effort): void {
    if (!this.#isOver) this.#writer.writeJson("effort", this.id, effort);
  }

  endInput(): void {
    if (this.#isOver) return;
    this.#isInputEnded = true;
    this.#writer.write("endInput", this.id);
  }

  /** Processes a frame that the process has sent for this session. */
  take(frame: Frame): void {
    this.#frames += 1;
    switch (frame.kind) {
      case "interim":
        this.client.interim(jsonPayload("interim", frame));
        break;
      case "speechEvent":
        this.client.speechEvent?.(jsonPayload("speechEvent", frame));
        break;
      case "outputs":
        for (const utterance of outputsOf(frame)) this.client.outputs?.(utterance);
        break;
      case "committed":
        this.#isFlushing = false;
        this.client.committed(jsonPayload("committed", frame));
        break;
      case "speakers":
        this.client.speakers?.(jsonPayload("speakers", frame));
        break;
      case "aligned":
        this.client.aligned?.(jsonPayload("aligned", frame));
        break;
      case "received":
        this.#inFlightSamples -= jsonPayload("received", frame);
        this.#wake?.();
        break;
      case "progress":
        this.client.progress(jsonPayload("progress", frame));
        break;
      case "done":
        this.end({ kind: "done" });
        break;
      case "error": {
        const { message, stack, absence, answer } = jsonPayload("error", frame);
        if (absence) {
          this.end({ kind: "unavailable", absence });
          break;
        }
        const error = new Error(`in the engine process: ${message}`);
        if (stack !== undefined) error.stack = stack;
        if (answer === undefined) this.end({ kind: "failed", error, isReported: true });
        else this.end({ kind: "answered", answer, error });
        break;
      }
      case "open":
      case "audio":
      case "endUtterance":
      case "effort":
      case "endInput":
      case "close":
      case "ready":
      case "failed":
      case "load":
      case "working":
      case "listen":
      case "listening":
      case "enter":
        throw new GarbledFrame(`an engine process sent a ${frame.kind} frame for a session`);
    }
  }

  end(end: SessionEnd): void {
    this.#isOver = true;
    this.#resolve(end);
    this.#wake?.();
  }
}

function outputsOf({ payload }: Frame): ReturnType<typeof utterancesOf> {
  try {
    // The payload is a view of memory that is reused.
    return utterancesOf(Uint8Array.from(payload));
  } catch {
    throw new GarbledFrame("the payload of an outputs frame has no utterances");
  }
}
