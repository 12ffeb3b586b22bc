import { currentTraceparent } from "../../tracing/tracing.ts";
import {
  type Frame,
  type FrameWriter,
  GarbledFrame,
  type OpenSession,
} from "../protocol/engine-frames.ts";
import { ChildSession, type SessionEnd } from "./child-session.ts";
import type { OpenedSession } from "./opened-session.ts";
import type { SessionClient } from "./session-client.ts";

/**
 * The numbers of sessions that each process has which is connected to an engine process. The main
 * process of a node has the first ones.
 */
export const sessionNumbers = 1 << 24;

interface ChildSessionsOptions {
  /** Writes the frames for the process. */
  readonly writer: FrameWriter;
  /** The number after which those of the sessions begin. */
  readonly numbersFrom: number;
  /** Called when a session may have ended. */
  readonly onChange: () => void;
  /** Called with a fault of this process in what it does with a frame of a session. */
  readonly onFault: (error: unknown) => void;
}

/** The sessions in an engine process: of this service, or of clients of this engine node. */
export class ChildSessions {
  readonly #options: ChildSessionsOptions;
  readonly #sessions = new Map<number, OpenedSession>();
  #lastId = 0;
  #isLeaving = false;
  #canMove = () => false;

  constructor(options: ChildSessionsOptions) {
    this.#options = options;
  }

  get byNumber(): ReadonlyMap<number, OpenedSession> {
    return this.#sessions;
  }

  /** Whether sessions are handed over to other processes. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Whether the process still has work for a session. */
  get haveWork(): boolean {
    return this.#sessions.values().some(({ hasWork }) => hasWork);
  }

  /** Begins a session, or continues a session of another process. */
  open(client: SessionClient, payload: OpenSession): ChildSession {
    const { writer } = this.#options;
    const { position } = payload.checkpoint ?? {};
    const session = new ChildSession(this.#nextId(), client, writer, position);
    this.#sessions.set(session.id, session);
    const traceparent = currentTraceparent();
    const traced = traceparent === undefined ? payload : { ...payload, traceparent };
    writer.writeJson("open", session.id, traced);
    return session;
  }

  /** Begins a session of a client of this engine node, with the payload of its open frame. */
  relay<S extends OpenedSession>(
    create: (id: number, writer: FrameWriter) => S,
    payload: Uint8Array,
  ): S {
    const { writer } = this.#options;
    const session = create(this.#nextId(), writer);
    this.#sessions.set(session.id, session);
    writer.write("open", session.id, payload);
    return session;
  }

  #nextId(): number {
    this.#lastId = (this.#lastId % (sessionNumbers - 1)) + 1;
    return this.#options.numbersFrom + this.#lastId;
  }

  /**
   * Moves each session to another process at its next commit, or at once if a commit covers all of
   * its input, as long as `canMove` returns true.
   */
  handOver(canMove: () => boolean): void {
    this.#isLeaving = true;
    this.#canMove = canMove;
    for (const session of this.#sessions.values()) {
      if (session.client.uncommittedSeconds === 0) this.#move(session);
    }
  }

  #move(session: OpenedSession): void {
    if (!this.#isLeaving || !this.#canMove() || session.isOver) return;
    this.#close(session);
    session.end({ kind: "moved" });
    this.#options.onChange();
  }

  /** Ends a session immediately. */
  leave(session: OpenedSession, end: SessionEnd = { kind: "done" }): void {
    this.#close(session);
    session.end(end);
    this.#options.onChange();
  }

  #close({ id }: OpenedSession): void {
    if (this.#sessions.delete(id)) this.#options.writer.write("close", id);
  }

  /** Gives a session its frame. Throws GarbledFrame if it is not a frame for a session. */
  take(frame: Frame): void {
    const session = this.#sessions.get(frame.session);
    // Frames may still arrive for a session that has been left.
    if (session) {
      this.#deliver(session, frame);
      if (session.isOver) this.#sessions.delete(session.id);
      else if (frame.kind === "committed") this.#move(session);
    }
    this.#options.onChange();
  }

  /** A fault in what this process does with a frame ends the session of the frame only. */
  #deliver(session: OpenedSession, frame: Frame): void {
    try {
      session.take(frame);
    } catch (error) {
      if (error instanceof GarbledFrame) throw error;
      this.#options.onFault(error);
      this.#close(session);
      session.end({ kind: "failed", error });
    }
  }

  /**
   * Ends all sessions, since the process or the connection to it has ended. `active` is the session
   * that may be the cause.
   */
  end({ active, isOfProcess }: { readonly active: number; readonly isOfProcess: boolean }): void {
    for (const session of this.#sessions.values()) {
      const wasActive = session.id === active;
      const isLost = isOfProcess || wasActive;
      session.end(isLost ? { kind: "lost", wasActive } : { kind: "moved" });
    }
    this.#sessions.clear();
  }
}
