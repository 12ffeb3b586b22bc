import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Engines,
  type NodeBeat,
  type NodeHello,
  ServeRequestSchema,
  type ServeResponse,
  ServeResponseSchema,
} from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { Log } from "../../std/log.ts";
import { unlessAborted } from "../../std/until-aborted.ts";
import { packageVersion } from "../../std/version.ts";
import type { EngineChild } from "../pool/engine-child.ts";
import type { LinkEnd } from "../pool/engine-link.ts";
import type { Machine } from "../pool/machine.ts";
import { BadFrame } from "./check-frames.ts";
import { GrpcCall } from "./grpc-call.ts";
import { framesMessage, type GrpcMessage, grpcMessage } from "./grpc-messages.ts";
import { connectionOf, type NodeAddress, originOf } from "./node-address.ts";
import { NodeBeats } from "./node-beats.ts";
import { NodeProcesses, type ProcessEvents } from "./node-processes.ts";
import { authorizationOf, beatMs, helloMsMax, nodeProtocol, silentMsMax } from "./node-protocol.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";

/** The limits of what a node says in its hello. */
const coresMax = 100_000;
const runIdLengthMax = 100;

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
export interface NodeEvents extends ProcessEvents {
  /** Called when the node has answered the hello. Throws if the node is not to be used. */
  joined(connection: NodeConnection): void;
  leaving(connection: NodeConnection): void;
}

/** The error for a node that sends what it may not send. */
export class NodeMisbehaved extends Error {}

/** One connection to an engine node, from its opening to its end. */
export class NodeConnection {
  readonly address: NodeAddress;
  readonly #options: NodeConnectionOptions;
  readonly #events: NodeEvents;
  readonly #outgoing = new OutgoingMessages<GrpcMessage>((process, frames) =>
    framesMessage(ServeRequestSchema.field.frames, process, frames),
  );
  readonly #processes: NodeProcesses;
  readonly #beats = new NodeBeats();
  readonly #ending = new AbortController();
  #hello: NodeHello | undefined;
  #machine: Machine | undefined;
  #isLoading = true;

  constructor(address: NodeAddress, options: NodeConnectionOptions, events: NodeEvents) {
    this.address = address;
    this.#options = options;
    this.#events = events;
    this.#processes = new NodeProcesses({
      node: address.name,
      isSameMachine: address.main !== undefined,
      events,
      send: (process, bytes) => this.#outgoing.frames(process, bytes),
      onStuck: (problem) => this.fail(new NodeMisbehaved(problem)),
      log: options.log,
    });
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
    return this.#processes.isLeaving;
  }

  /** Whether the node still loads models for the first time. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** The time that the last answered beat took. */
  get delayMs(): number {
    return this.#beats.delayMs;
  }

  get children(): readonly EngineChild[] {
    return this.#processes.children;
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
    let suspect: number | undefined;
    try {
      await Promise.race([ended, this.#write(call)]);
      await ended;
      throw new Error("the node has ended the connection");
    } catch (error) {
      end = { how: error instanceof Error ? error.message : String(error), isOfProcess: false };
      if (error instanceof NodeMisbehaved && error.cause instanceof BadFrame)
        suspect = error.cause.session;
      throw error;
    } finally {
      clearTimeout(limit);
      clearInterval(beats);
      this.#outgoing.end();
      this.#processes.end(end, suspect);
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
    const { credential } = this.address.main ?? this.#options;
    return new GrpcCall({
      origin: originOf(this.address),
      path: `/${Engines.typeName}/${Engines.method.serve.name}`,
      authorization: authorizationOf(credential),
      connection: connectionOf(this.address, this.#options.authorities),
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
    const machine = this.#machine;
    if (!machine) {
      if (message.case !== "hello") throw new Error("it did not say hello first");
      this.#join(message.value);
      return;
    }
    switch (message.case) {
      case "ready":
        this.#processes.add(message.value, machine);
        break;
      case "gone":
        this.#processes.remove(message.value.process, message.value.how);
        break;
      case "retiring":
        this.#processes.retire(message.value.process);
        break;
      case "leaving":
        this.#events.leaving(this);
        this.#processes.leave();
        break;
      case "frames":
        this.#processes.receive(message.value.process, message.value.frames);
        break;
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
    if (cores < 1 || cores > coresMax) {
      throw new Error(`the cores of its hello must be 1 to ${coresMax}, not ${cores}`);
    }
    if (runId.length > runIdLengthMax) {
      throw new Error(`the runId of its hello must have at most ${runIdLengthMax} characters`);
    }
    this.#hello = hello;
    this.#machine = { cores, processes: () => this.children };
    this.#events.joined(this);
    // Its answer says whether the models of the node are all known.
    this.#beat();
  }

  /** Beats are counted instead of time, since none happen while this process is suspended. */
  #beat(): void {
    if (!this.#hello) return;
    const limits = this.address.main ?? this.#options;
    const beatsMax = Math.ceil((limits.silentMsMax ?? silentMsMax) / beatMs);
    if (this.#beats.unanswered >= beatsMax) {
      this.fail(new Error(`it has not answered for ${(beatsMax * beatMs) / 1000} s`));
      return;
    }
    const uses = this.#processes.uses();
    this.#send({ case: "beat", value: { number: this.#beats.next(), uses } });
  }

  #takeBeat({ number, others, isLoading }: NodeBeat): void {
    this.#beats.answer(number);
    this.#isLoading = isLoading;
    this.#processes.takeUses(others);
  }
}
