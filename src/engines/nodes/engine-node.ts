import { setTimeout as sleep } from "node:timers/promises";
import { liveLoad } from "../pool/admission.ts";
import type { ServingModels } from "../pool/serving-models.ts";
import type { NodeAddress } from "./node-address.ts";
import {
  NodeConnection,
  type NodeConnectionOptions,
  type NodeEvents,
  NodeMisbehaved,
} from "./node-connection.ts";
import { problemOf } from "./node-problem.ts";

export interface EngineNodeOptions extends NodeConnectionOptions {
  /** The delay before a node that sent what it may not send is used again. Default: 30 s. */
  readonly penaltyMs?: number;
}

/** An engine node, as this node sees it. */
export interface EngineNodeState {
  /** The address in the setting, with the IP address if that is another. */
  readonly address: string;
  readonly connected: boolean;
  /** Whether the node is being stopped. */
  readonly leaving: boolean;
  readonly version?: string;
  readonly processes: number;
  /** The sessions of all nodes in its processes. */
  readonly sessions: number;
  readonly load: number;
  /** The time that the node takes to answer. */
  readonly delayMs: number;
  /** How often a connection to it was lost. */
  readonly losses: number;
  /** Why it is not connected. */
  readonly problem?: string;
}

const penaltyMsDefault = 30_000;
/** The delay before a connection is opened again doubles up to the maximum. */
const retryMsMin = 100;
const retryMsMax = 5_000;
/** The time after which a connection was of use, so that the delay is short again. */
const usefulMs = 30_000;

/** One engine node, connected again and again. */
export class EngineNode {
  readonly #address: NodeAddress;
  readonly #options: EngineNodeOptions;
  readonly #serving: ServingModels;
  readonly #isUsed: (connection: NodeConnection) => boolean;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #connection: NodeConnection | undefined;
  /** Whether a lookup still finds the address. */
  isNamed = true;
  #isOver = false;
  /** Whether it is a node that is connected under another address. */
  #isOther = false;
  #wasKnown = false;
  #losses = 0;
  #problem: string | undefined;
  #loggedProblem: string | undefined;

  constructor(
    address: NodeAddress,
    options: EngineNodeOptions,
    parts: {
      readonly serving: ServingModels;
      readonly isUsed: (connection: NodeConnection) => boolean;
    },
  ) {
    this.#address = address;
    this.#options = options;
    this.#serving = parts.serving;
    this.#isUsed = parts.isUsed;
    this.#running = this.#run();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The address in the setting, with the IP address if that is another. */
  get shownAddress(): string {
    const { name, address, host } = this.#address;
    return host === address ? name : `${name} (${address})`;
  }

  /** Whether the models of the node are known, or it is connected under another address. */
  get isKnown(): boolean {
    return this.#isOther || (this.#connection !== undefined && areModelsKnown(this.#connection));
  }

  /** Whether the models of the node have ever been known. */
  get wasKnown(): boolean {
    return this.#wasKnown || this.isKnown;
  }

  /** Returns whether this node is connected to that run of a node, by another connection. */
  uses(runId: string, than: NodeConnection): boolean {
    const own = this.#connection;
    return own !== undefined && own !== than && own.machine !== undefined && own.runId === runId;
  }

  state(): EngineNodeState {
    const connection = this.#connection;
    const machine = connection?.machine;
    const children = machine ? (connection?.children ?? []) : [];
    return {
      address: this.shownAddress,
      connected: machine !== undefined,
      leaving: connection?.isLeaving ?? false,
      ...(machine && connection && { version: connection.version }),
      processes: children.length,
      sessions: children.reduce((sum, { sessions }) => sum + sessions, 0),
      load: machine ? Number(liveLoad([machine]).toFixed(3)) : 0,
      delayMs: Math.round(connection?.delayMs ?? 0),
      losses: this.#losses,
      ...(!machine && this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    let retryMs = retryMsMin;
    while (!signal.aborted && this.isNamed) {
      const startedAt = performance.now();
      const connection = new NodeConnection(this.#address, this.#options, this.#events());
      this.#connection = connection;
      const error = await connection.run().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      this.#connection = undefined;
      this.#isOther = error instanceof NodeMisbehaved && error.cause instanceof SameNode;
      // The models of the same node are those of its other address.
      if (areModelsKnown(connection) || this.#isOther) this.#wasKnown = true;
      if (connection.machine) this.#serving.removeMachine(connection.machine);
      if (signal.aborted) break;
      this.#report(connection, error);
      const wasOfUse = connection.machine && performance.now() - startedAt >= usefulMs;
      if (wasOfUse) retryMs = retryMsMin;
      const { penaltyMs = penaltyMsDefault } = this.#options;
      const delayMs = error instanceof NodeMisbehaved ? penaltyMs : retryMs;
      retryMs = Math.min(2 * retryMs, retryMsMax);
      // Nodes that lost the same engine node do not return at the same moment.
      const jitter = 0.5 + Math.random();
      await sleep(delayMs * jitter, undefined, { signal }).catch(() => {});
    }
    this.#isOver = true;
  }

  #events(): NodeEvents {
    const { elsewhere } = this.#serving;
    const { log } = this.#options;
    const node = this.#address.name;
    return {
      joined: (connection) => {
        if (this.#isUsed(connection)) throw new SameNode("it is the same node as another address");
        if (connection.machine) this.#serving.addMachine(connection.machine);
        this.#isOther = false;
        this.#problem = undefined;
        this.#loggedProblem = undefined;
        const { address } = this.#address;
        log.info({ node, address, version: connection.version }, "engine.node_joined");
      },
      ready: (child, model) => elsewhere.add(child, model),
      loaded: (child, model, report) => elsewhere.learn(child, model, report),
      absenceChanged: () => this.#serving.lookAgain(),
      hasOther: (model) => elsewhere.hasOther(model),
      leaving: () => log.info({ node }, "engine.node_leaving"),
    };
  }

  /** Logs why a connection ended, or could not be opened, unless that was logged just before. */
  #report(connection: NodeConnection, error: unknown): void {
    const { log } = this.#options;
    const { name: node, address, isEncrypted } = this.#address;
    this.#problem = problemOf(error, isEncrypted);
    const fields = { node, address, problem: this.#problem };
    if (error instanceof NodeMisbehaved && error.cause instanceof SameNode) {
      log.debug(fields, "engine.node_known");
      return;
    }
    if (connection.machine) this.#losses += 1;
    if (error instanceof NodeMisbehaved) {
      log.error(fields, "engine.node_misbehaved");
    } else if (connection.machine) {
      log.warn(fields, connection.isLeaving ? "engine.node_left" : "engine.node_lost");
    } else if (this.#problem !== this.#loggedProblem) {
      log.warn(fields, "engine.node_unreachable");
    }
    this.#loggedProblem = this.#problem;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#connection?.fail(new Error("this node is closing"));
    await this.#running;
  }
}

class SameNode extends Error {}

function areModelsKnown({ machine, isLoading }: NodeConnection): boolean {
  return machine !== undefined && !isLoading;
}
