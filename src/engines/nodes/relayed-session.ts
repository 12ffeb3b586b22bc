import {
  type Frame,
  type FrameWriter,
  jsonPayload,
  type SessionOptions,
} from "../protocol/engine-frames.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { SessionEnd } from "../pool/child-session.ts";
import type { OpenedSession } from "../pool/opened-session.ts";
import { LiveDemand } from "../pool/live-demand.ts";
import type { SessionUse } from "../pool/session-client.ts";
import type { SessionSpans } from "./session-spans.ts";
import { parseJson } from "./unchecked.ts";

/** A session of a client in a process of this engine node. Its frames are passed on unread. */
export class RelayedSession implements OpenedSession, SessionUse {
  readonly id: number;
  readonly mode: RecognitionMode;
  readonly demand = new LiveDemand(0);
  readonly fullDemand = 0;
  /** The clients know this themselves, and report it (ProcessUse). */
  readonly uncommittedSeconds = 0;
  /** The number of the session on the client's stream. */
  readonly clientId: number;
  readonly #writer: FrameWriter;
  readonly #toClient: FrameWriter;
  readonly #spans: SessionSpans | undefined;
  #inFlightSamples = 0;
  #isFlushing = false;
  #isInputEnded = false;
  #isOver = false;

  constructor(
    {
      id,
      clientId,
      mode,
      spans,
    }: {
      readonly id: number;
      readonly clientId: number;
      /** Undefined if the client has no trace. */
      readonly spans: SessionSpans | undefined;
    } & Pick<SessionOptions, "mode">,
    writers: { readonly toProcess: FrameWriter; readonly toClient: FrameWriter },
  ) {
    this.id = id;
    this.clientId = clientId;
    this.mode = mode;
    this.#spans = spans;
    this.#writer = writers.toProcess;
    this.#toClient = writers.toClient;
  }

  get client(): SessionUse {
    return this;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get hasWork(): boolean {
    return this.#inFlightSamples > 0 || this.#isFlushing || this.#isInputEnded;
  }

  /** Passes a frame of the client on to the process. Throws if the client may not send it. */
  receive({ kind, payload }: Frame): void {
    if (kind === "audio") {
      if (payload.length % 2 !== 0) throw new Error("audio has half a sample");
      this.#inFlightSamples += payload.length / 2;
    } else if (kind === "effort") {
      const effort = parseJson(payload);
      if (effort !== "quick" && effort !== "full") throw new Error("there is no such effort");
    } else if (kind === "endUtterance") {
      this.#isFlushing = true;
    } else if (kind === "endInput") {
      this.#isInputEnded = true;
    } else if (kind !== "outputs") {
      throw new Error(`a client sent a ${kind} frame for a session`);
    }
    if (!this.#isOver) this.#writer.write(kind, this.id, payload);
  }

  take(frame: Frame): void {
    const { kind, payload } = frame;
    this.#spans?.take(frame);
    if (kind === "received") this.#inFlightSamples -= jsonPayload("received", frame);
    else if (kind === "committed") this.#isFlushing = false;
    else if (kind === "done" || kind === "error") this.#isOver = true;
    this.#toClient.write(kind, this.clientId, payload);
  }

  /**
   * One message reports the loss of a process for all of its sessions. A failure concerns this
   * session only, so that the client gets a frame.
   */
  end(end: SessionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#spans?.fail(end.kind === "done" ? "left" : end.kind);
    if (end.kind !== "failed") return;
    const message = end.error instanceof Error ? end.error.message : String(end.error);
    this.#toClient.writeJson("error", this.clientId, { message: `on its node: ${message}` });
  }
}
