import { connect, isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Engines,
  type NodeBeat,
  type NodeHello,
  type ProcessReady,
  ServeRequestSchema,
  type ServeResponse,
  ServeResponseSchema,
} from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { Log } from "../../std/log.ts";
import { unlessAborted } from "../../std/until-aborted.ts";
import { packageVersion } from "../../std/version.ts";
import type { ChildSession } from "../pool/child-session.ts";
import { EngineChild } from "../pool/engine-child.ts";
import type { LinkEnd } from "../pool/engine-link.ts";
import type { LoadableModel } from "../pool/loadable-models.ts";
import type { Machine } from "../pool/machine.ts";
import type { Frame } from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { BadFrame, FrameCheck } from "./check-frames.ts";
import { GrpcCall } from "./grpc-call.ts";
import { framesMessage, type GrpcMessage, grpcMessage } from "./grpc-messages.ts";
import { NodeLink } from "./node-link.ts";
import { authorizationOf, beatMs, helloMsMax, nodeProtocol, silentMsMax } from "./node-protocol.ts";
import { SocketLink } from "../pool/socket-link.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";
import { useMessage, useOfMessage } from "./process-use.ts";
import { checkedReady } from "./process-ready.ts";

/**
 * How long a process with work may send nothing although its node answers. The node itself watches
 * its processes more closely, so this only ends a node that is broken.
 */
const quietMsMax = 60_000;
/** The time within which the end of a process is reported after the end of its socket. */
const goneMsMax = 5_000;
const processesMax = 10_000;
const coresMax = 100_000;

/** An address of an engine node. */
export interface NodeAddress {
  /** The address as in the setting, for the log: <host>:<port>. */
  readonly name: string;
  /** The host name, which the certificate must have. */
  readonly host: string;
  /** The IP address. */
  readonly address: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  /** The main process of this node, in place of the address. */
  readonly main?: MainProcess | undefined;
}

/** How a front process reaches the main process of its node. */
export interface MainProcess {
  /** The path of its Unix socket. */
  readonly socketPath: string;
  readonly credential: string;
  /** The silence after which it is given up. */
  readonly silentMsMax: number;
}

export interface NodeConnectionOptions {
  readonly credential: string;
  /**
   * The certificates of the only authorities that are trusted, in PEM form. Default: those that
   * Node knows.
   */
  readonly authorities?: string | undefined;
  readonly log: Log;
  /** The silence after which the node is given up. Default: silentMsMax. */
  readonly silentMsMax?: number;
}

/** What a connection reports to the pool. */
export interface NodeEvents {
  /** Called when the node has answered the hello. Throws if the node is not to be used. */
  joined(connection: NodeConnection): void;
  ready(child: EngineChild, model: LoadableModel): void;
  loaded(child: EngineChild, model: LoadableModel, report: LoadReport): void;
  /** Returns whether another process can take over a session of this model. */
  hasOther(model: LoadableModel): boolean;
  leaving(connection: NodeConnection): void;
}

/** The error for a node that sends what it may not send. */
export class NodeMisbehaved extends Error {}

interface NodeProcess {
  readonly child: EngineChild;
  readonly link: NodeLink | SocketLink;
  readonly model: LoadableModel;
}

/** One connection to an engine node, from its opening to its end. */
export class NodeConnection {
  readonly address: NodeAddress;
  readonly #options: NodeConnectionOptions;
  readonly #events: NodeEvents;
  readonly #outgoing = new OutgoingMessages<GrpcMessage>((process, frames) =>
    framesMessage(ServeRequestSchema.field.frames, process, frames),
  );
  readonly #processes = new Map<number, NodeProcess>();
  readonly #ending = new AbortController();
  /** The process whose frames were handled last. */
  #speaking: NodeProcess | undefined;
  #hello: NodeHello | undefined;
  #machine: Machine | undefined;
  #lastProcess = 0;
  #lastBeat = 0;
  /** The beats that were sent and not answered, by their time. */
  readonly #unanswered: number[] = [];
  #answered = 0;
  #delayMs = 0;
  #isLoading = true;
  #isLeaving = false;

  constructor(address: NodeAddress, options: NodeConnectionOptions, events: NodeEvents) {
    this.address = address;
    this.#options = options;
    this.#events = events;
  }

  get runId(): string {
    return this.#hello?.runId ?? "";
  }

  get version(): string {
    return this.#hello?.version ?? "";
  }

  get machine(): Machine | undefined {
    return this.#machine;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Whether the node still loads models for the first time. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** The time that the last answered beat took. */
  get delayMs(): number {
    return this.#delayMs;
  }

  get children(): readonly EngineChild[] {
    return Array.from(this.#processes.values(), ({ child }) => child).filter(
      ({ hasExited }) => !hasExited,
    );
  }

  /**
   * Uses the node until the connection ends. Rejects with the reason: NodeMisbehaved if the node
   * sent what it may not send. All sessions then continue elsewhere.
   */
  async run(): Promise<void> {
    using call = this.#openCall();
    const hello = { protocol: nodeProtocol, version: packageVersion() };
    this.#send({ case: "hello", value: hello });
    const limit = setTimeout(() => {
      if (!this.#hello) this.fail(new Error("it did not answer the hello"));
    }, helloMsMax);
    const beats = setInterval(() => this.#beat(), beatMs);
    const ended = unlessAborted(call.ended, this.#ending.signal);
    let end: LinkEnd = { how: "the connection ended", isOfProcess: false };
    try {
      await Promise.race([ended, this.#write(call)]);
      await ended;
      throw new Error("the node has ended the connection");
    } catch (error) {
      const how = error instanceof Error ? error.message : String(error);
      end = { how, isOfProcess: false };
      // The session whose frame was bad may be the cause, so this counts as a crash of its process.
      if (error instanceof NodeMisbehaved && error.cause instanceof BadFrame) {
        this.#speaking?.link.close({ ...end, suspect: error.cause.session });
      }
      throw error;
    } finally {
      clearTimeout(limit);
      clearInterval(beats);
      this.#outgoing.end();
      for (const { link } of this.#processes.values()) link.close(end);
      this.#processes.clear();
    }
  }

  /** Ends the connection. */
  fail(error: Error): void {
    this.#ending.abort(error);
  }

  /** Sends the messages until they end, or the call. */
  async #write(call: GrpcCall): Promise<void> {
    for await (const message of this.#outgoing) await call.write(message);
  }

  #send(message: NonNullable<MessageInitShape<typeof ServeRequestSchema>["message"]>): void {
    this.#outgoing.push(grpcMessage(ServeRequestSchema, create(ServeRequestSchema, { message })));
  }

  #openCall(): GrpcCall {
    const { authorities } = this.#options;
    const { host, isEncrypted, main } = this.address;
    const { credential } = main ?? this.#options;
    const secure = {
      // TLS names hosts, not addresses: an address is compared with the certificate all the same.
      ...(isIP(host) === 0 && { servername: host }),
      ...(authorities !== undefined && { ca: authorities }),
    };
    return new GrpcCall({
      origin: urlOf(this.address),
      path: `/${Engines.typeName}/${Engines.method.serve.name}`,
      authorization: authorizationOf(credential),
      connection: {
        maxSessionMemory: 256,
        ...(isEncrypted && secure),
        ...(main && { createConnection: () => connect(main.socketPath) }),
      },
      onMessage: (bytes) => this.#take(bytes),
    });
  }

  #take(bytes: Buffer): void {
    if (this.#ending.signal.aborted) return;
    try {
      this.#handle(fromBinary(ServeResponseSchema, bytes).message);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new NodeMisbehaved(problem, { cause: error });
    }
  }

  #handle(message: ServeResponse["message"]): void {
    if (!this.#hello) {
      if (message.case !== "hello") throw new Error("it did not say hello first");
      this.#join(message.value);
      return;
    }
    switch (message.case) {
      case "ready":
        this.#addProcess(message.value);
        break;
      case "gone":
        this.#processes
          .get(message.value.process)
          ?.link.close({ how: message.value.how.slice(0, 200), isOfProcess: true });
        this.#processes.delete(message.value.process);
        break;
      case "retiring":
        this.#processes.get(message.value.process)?.child.handOver(() => false);
        break;
      case "leaving":
        this.#leave();
        break;
      case "frames": {
        const process = this.#processes.get(message.value.process);
        this.#speaking = process;
        if (process?.link instanceof NodeLink) process.link.receive(message.value.frames);
        break;
      }
      case "beat":
        this.#takeBeat(message.value);
        break;
      case "hello":
      case undefined:
        throw new Error("it sent a message that it may not send here");
    }
  }

  #join(hello: NodeHello): void {
    const { protocol, cores, runId } = hello;
    if (protocol !== nodeProtocol)
      throw new Error(`its protocol is ${protocol}, not ${nodeProtocol}`);
    if (cores < 1 || cores > coresMax || runId.length > 100) throw new Error("its hello is none");
    this.#hello = hello;
    this.#machine = { cores, processes: () => this.children };
    this.#events.joined(this);
  }

  #addProcess(message: ProcessReady): void {
    if (message.process <= this.#lastProcess)
      throw new Error("a process has the number of another");
    if (this.#processes.size >= processesMax) throw new Error("it has too many processes");
    this.#lastProcess = message.process;
    const { model, ready } = checkedReady(message);
    const { process } = message;
    const link = this.#linkTo(message);
    const machine = this.#machine ?? { cores: 1, processes: () => [] };
    const child: EngineChild = new EngineChild(link, ready, {
      model: model.name,
      log: this.#options.log,
      machine,
      onLoad: (report) => this.#events.loaded(child, model, report),
      ...(link instanceof SocketLink ? directOptions(message) : checksOfNode()),
    });
    this.#processes.set(process, { child, link, model });
    if (link instanceof SocketLink) void child.exited.then(() => this.#expectEnd(process));
    this.#events.ready(child, model);
    if (this.#isLeaving) child.handOver(() => this.#events.hasOther(model));
  }

  /**
   * Waits until the node reports the end of a process whose socket has ended. If the process goes
   * on, only a new connection to the node makes it known again.
   */
  async #expectEnd(process: number): Promise<void> {
    const { signal } = this.#ending;
    await sleep(goneMsMax, undefined, { signal, ref: false }).catch(() => {});
    if (this.#processes.has(process)) {
      this.fail(new Error(`the connection to its process ${process} ended`));
    }
  }

  #linkTo({ process, direct }: ProcessReady): NodeLink | SocketLink {
    // Another machine may not name sockets and processes of this one.
    if (direct && this.address.main) {
      return new SocketLink(direct, { pid: direct.pid, log: this.#options.log });
    }
    return new NodeLink({
      send: (bytes) => this.#outgoing.frames(process, bytes),
      onStuck: () => this.fail(new NodeMisbehaved(`process ${process} sends nothing`)),
    });
  }

  #leave(): void {
    this.#isLeaving = true;
    this.#events.leaving(this);
    for (const { child, model } of this.#processes.values()) {
      child.handOver(() => this.#events.hasOther(model));
    }
  }

  /** Beats are counted instead of time, since none happen while this process is suspended. */
  #beat(): void {
    if (!this.#hello) return;
    const limits = this.address.main ?? this.#options;
    const beatsMax = Math.ceil((limits.silentMsMax ?? silentMsMax) / beatMs);
    if (this.#unanswered.length >= beatsMax) {
      this.fail(new Error(`it has not answered for ${(beatsMax * beatMs) / 1000} s`));
      return;
    }
    this.#unanswered.push(performance.now());
    const number = (this.#lastBeat += 1);
    const uses = Array.from(this.#processes, ([process, { child }]) =>
      useMessage(process, child.ownUse),
    );
    this.#send({ case: "beat", value: { number, uses } });
  }

  #takeBeat({ number, others, isLoading }: NodeBeat): void {
    const at = this.#unanswered.shift();
    if (at === undefined || number !== this.#answered + 1) throw new Error("it answered no beat");
    this.#answered = number;
    this.#delayMs = performance.now() - at;
    this.#isLoading = isLoading;
    for (const use of others) {
      const process = this.#processes.get(use.process);
      if (process) process.child.others = useOfMessage(use);
    }
  }
}

/** Returns how a process is used that this one is connected to itself: as a child is. */
function directOptions({ direct }: ProcessReady) {
  return { stuckMsMax: direct?.stuckMsMax ?? quietMsMax, numbersFrom: direct?.numbersFrom ?? 0 };
}

/** Returns how the process of another node is watched. */
function checksOfNode() {
  const check = new FrameCheck();
  return {
    stuckMsMax: quietMsMax,
    check: (frame: Frame, session: ChildSession | undefined) => check.check(frame, session),
    readSigns: () => undefined,
  };
}

function urlOf({ address, port, isEncrypted }: NodeAddress): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${isEncrypted ? "https" : "http"}://${host}:${port}`;
}
