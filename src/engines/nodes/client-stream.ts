import { create } from "@bufbuild/protobuf";
import {
  type ClientBeat,
  type ServeRequest,
  type ServeResponse,
  ServeResponseSchema,
} from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { UseByOthers } from "../pool/child-load.ts";
import type { EngineChild } from "../pool/engine-child.ts";
import type { LoadableModel } from "../pool/loadable-models.ts";
import { type Frame, FrameWriter } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { openedFrame } from "./opened-frame.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";
import { useMessage, useOfMessage } from "./process-use.ts";
import { RelayedSession } from "./relayed-session.ts";
import { SessionSpans } from "./session-spans.ts";
import type { ProcessesClient, SharedProcesses } from "./shared-processes.ts";

/** The sessions that one client may have in one process. */
const sessionsMax = 10_000;

/** A process, as one client uses it. */
interface UsedProcess {
  readonly number: number;
  readonly child: EngineChild;
  /** The name of the model. */
  readonly model: string;
  readonly reader: FrameReader;
  readonly writer: FrameWriter;
  /** The client's sessions, by its own numbers. */
  readonly sessions: Map<number, RelayedSession>;
  /** Whether the client is connected to the process itself. */
  readonly isDirect: boolean;
  use: UseByOthers | undefined;
}

/** One client of this engine node: the sessions that it has in the processes of the node. */
export class ClientStream implements ProcessesClient, Disposable {
  readonly outgoing: OutgoingMessages<ServeResponse>;
  readonly #shared: SharedProcesses;
  readonly #isLoading: () => boolean;
  readonly #byNumber = new Map<number, UsedProcess>();
  readonly #byChild = new Map<EngineChild, UsedProcess>();
  readonly place: number;
  #lastNumber = 0;

  constructor(shared: SharedProcesses, isLoading: () => boolean) {
    this.#shared = shared;
    this.place = shared.freePlace();
    this.#isLoading = isLoading;
    this.outgoing = new OutgoingMessages((process, frames) =>
      create(ServeResponseSchema, { message: { case: "frames", value: { process, frames } } }),
    );
  }

  /** Handles a message. Throws if the client may not send it. */
  take({ message }: ServeRequest): void {
    if (message.case === "frames") this.#takeFrames(message.value.process, message.value.frames);
    else if (message.case === "beat") this.#takeBeat(message.value);
    else throw new Error("a client may send only frames and beats after its hello");
  }

  get sessions(): number {
    return this.#byNumber.values().reduce((sum, { sessions }) => sum + sessions.size, 0);
  }

  #takeFrames(number: number, bytes: Uint8Array): void {
    const process = this.#byNumber.get(number);
    // Frames may still arrive for a process that has just ended.
    if (!process) {
      if (number > this.#lastNumber) throw new Error(`there is no process ${number}`);
      return;
    }
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const frame of process.reader.push(chunk)) this.#takeFrame(process, frame);
  }

  #takeFrame(process: UsedProcess, frame: Frame): void {
    const { child, sessions } = process;
    const { kind, session: clientId, payload } = frame;
    const session = sessions.get(clientId);
    if (kind === "open") {
      if (session) throw new Error(`session ${clientId} is open already`);
      if (sessions.size >= sessionsMax)
        throw new Error(`at most ${sessionsMax} sessions are allowed`);
      const { mode, traceparent } = openedFrame(payload);
      const spans =
        traceparent === undefined
          ? undefined
          : new SessionSpans(traceparent, { mode, model: process.model });
      const create = (id: number, toProcess: FrameWriter) =>
        new RelayedSession({ id, clientId, mode, spans }, { toProcess, toClient: process.writer });
      sessions.set(clientId, child.relay(create, payload));
    } else if (kind === "close") {
      if (session) child.leave(session);
      sessions.delete(clientId);
    } else {
      session?.receive(frame);
    }
  }

  #takeBeat({ number, uses }: ClientBeat): void {
    for (const message of uses) {
      const process = this.#byNumber.get(message.process);
      if (!process) continue;
      process.use = useOfMessage(message);
      if (process.isDirect) this.#shared.countDirect(process.child);
    }
    for (const { sessions } of this.#byNumber.values()) {
      for (const [id, { isOver }] of sessions) if (isOver) sessions.delete(id);
    }
    const others = Array.from(this.#byNumber.values(), (each) =>
      useMessage(each.number, this.#shared.useByOthers(this, each.child)),
    );
    this.#send({ case: "beat", value: { number, others, isLoading: this.#isLoading() } });
  }

  ready(child: EngineChild, model: LoadableModel): void {
    const number = (this.#lastNumber += 1);
    const write = (bytes: Buffer, done: () => void) => {
      this.outgoing.frames(number, bytes);
      done();
    };
    const direct = this.#shared.directAccess(this, child);
    const used: UsedProcess = {
      number,
      child,
      model: model.name,
      reader: new FrameReader(),
      writer: new FrameWriter({ writable: true, write }),
      sessions: new Map(),
      isDirect: direct !== undefined,
      use: undefined,
    };
    this.#byNumber.set(number, used);
    this.#byChild.set(child, used);
    const { name, version, languageCodes, uses, preference, bytes } = model;
    const { engine, cpuPerSpeech, absence } = child;
    this.#send({
      case: "ready",
      value: {
        process: number,
        model: {
          name,
          version,
          preference,
          bytes,
          languageCodes: [...languageCodes],
          uses: [...uses],
          diarizes: model.source.engine === "diarizer",
        },
        engine: { ...engine, languageCodes: [...engine.languageCodes] },
        cpuPerSpeech,
        ...(absence && { absence }),
        ...(direct && { direct: { ...direct, pid: child.pid, stuckMsMax: child.stuckMsMax } }),
      },
    });
  }

  retiring(child: EngineChild): void {
    const used = this.#byChild.get(child);
    if (used) this.#send({ case: "retiring", value: { process: used.number } });
  }

  gone(child: EngineChild, how: string): void {
    const used = this.#byChild.get(child);
    if (!used) return;
    this.#byChild.delete(child);
    this.#byNumber.delete(used.number);
    used.writer.flush();
    this.#send({ case: "gone", value: { process: used.number, how } });
  }

  loaded(child: EngineChild, report: LoadReport): void {
    const used = this.#byChild.get(child);
    if (!used || used.isDirect) return;
    const own = new Map(Array.from(used.sessions.values(), ({ id, clientId }) => [id, clientId]));
    const live = report.live.flatMap(([id, demand]) => {
      const clientId = own.get(id);
      return clientId === undefined ? [] : [[clientId, demand] as const];
    });
    const busy = report.busy?.flatMap((id) => own.get(id) ?? []);
    used.writer.writeJson("load", 0, { ...report, live, ...(busy && { busy }) });
  }

  working(child: EngineChild, session: number): void {
    const used = this.#byChild.get(child);
    if (!used || used.isDirect) return;
    const own = used.sessions.values().find(({ id }) => id === session);
    used.writer.writeNow("working", own?.clientId ?? 0);
  }

  leaving(): void {
    this.#send({ case: "leaving", value: {} });
  }

  useOf(child: EngineChild): UseByOthers | undefined {
    return this.#byChild.get(child)?.use;
  }

  #send(message: Parameters<typeof responseOf>[0]): void {
    this.outgoing.push(responseOf(message));
  }

  /** Ends all sessions of the client. */
  [Symbol.dispose](): void {
    for (const { child, sessions } of this.#byNumber.values()) {
      for (const session of sessions.values()) child.leave(session);
    }
    this.#byNumber.clear();
    this.#byChild.clear();
    this.outgoing.end();
  }
}

function responseOf(message: NonNullable<MessageInit["message"]>): ServeResponse {
  return create(ServeResponseSchema, { message });
}

type MessageInit = NonNullable<Parameters<typeof create<typeof ServeResponseSchema>>[1]>;
