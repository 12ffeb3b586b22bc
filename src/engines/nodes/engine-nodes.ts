import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServingModels } from "../pool/serving-models.ts";
import { liveLoad } from "../pool/admission.ts";
import type { MainProcess, NodeAddress } from "./node-address.ts";
import {
  NodeConnection,
  type NodeConnectionOptions,
  type NodeEvents,
  NodeMisbehaved,
} from "./node-connection.ts";
import { problemOf } from "./node-problem.ts";

/** An entry of HLUST_ENGINES: a name may stand for several nodes. */
export interface NodeName {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  /** The main process of this node, in place of the host. */
  readonly main?: MainProcess;
}

export interface EngineNodesOptions extends NodeConnectionOptions {
  readonly names: readonly NodeName[];
  /** How often names are looked up. Default: 5 s. */
  readonly lookupMs?: number;
  /** The delay before a node that sent what it may not send is used again. Default: 30 s. */
  readonly penaltyMs?: number;
  /** Returns the addresses of a name. Default: those of the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
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

const lookupMsDefault = 5_000;
const penaltyMsDefault = 30_000;
/** The delay before a connection is opened again doubles up to the maximum. */
const retryMsMin = 100;
const retryMsMax = 5_000;
/** The time after which a connection was of use, so that the delay is short again. */
const usefulMs = 30_000;
/** How often models that no node has any more are looked for. */
const forgetMs = 1_000;

/** The engine nodes that the settings name, whose processes are added to the models that serve. */
export class EngineNodes implements AsyncDisposable {
  readonly #options: EngineNodesOptions;
  readonly #serving: ServingModels;
  readonly #nodes = new Map<string, EngineNode>();
  readonly #ending = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #timer: NodeJS.Timeout;
  #isEachNameFound = false;

  constructor(serving: ServingModels, options: EngineNodesOptions) {
    this.#serving = serving;
    this.#options = options;
    for (const name of options.names) this.#running.push(this.#follow(name));
    this.#timer = setInterval(() => serving.elsewhere.forgetAbsent(this.#areAllKnown()), forgetMs);
  }

  state(): readonly EngineNodeState[] {
    return Array.from(this.#nodes.values(), (node) => node.state());
  }

  /** Whether the models of every node are known. */
  #areAllKnown(): boolean {
    const nodes = [...this.#nodes.values()];
    return this.#isEachNameFound && nodes.every(({ isKnown }) => isKnown);
  }

  /** Looks a name up again and again, and uses the nodes at its addresses. */
  async #follow(name: NodeName): Promise<void> {
    const { signal } = this.#ending;
    const { lookupMs = lookupMsDefault, log } = this.#options;
    let problem: string | undefined;
    while (!signal.aborted) {
      try {
        this.#use(name, await this.#find(name));
        problem = undefined;
        this.#isEachNameFound = true;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        if (text !== problem)
          log.warn({ node: shownName(name), problem: text }, "engine.node_not_found");
        problem = text;
      }
      if (isAddress(name)) return;
      await sleep(lookupMs, undefined, { signal }).catch(() => {});
    }
  }

  async #find(name: NodeName): Promise<readonly string[]> {
    const { host } = name;
    if (isAddress(name)) return [host];
    if (this.#options.lookup) return await this.#options.lookup(host);
    return (await lookup(host, { all: true })).map(({ address }) => address);
  }

  #use(name: NodeName, addresses: readonly string[]): void {
    const shown = shownName(name);
    for (const address of addresses) {
      const key = `${shown} ${address}`;
      const known = this.#nodes.get(key);
      if (known && !known.isOver) continue;
      const node = new EngineNode({ ...name, address, name: shown }, this.#options, {
        serving: this.#serving,
        isUsed: (connection) =>
          this.#nodes.values().some((each) => each.uses(connection.runId, connection)),
      });
      this.#nodes.set(key, node);
    }
    for (const [key, node] of this.#nodes) {
      if (!key.startsWith(`${shown} `)) continue;
      // A node whose address is gone keeps its sessions, but is not connected again.
      node.isNamed = addresses.some((address) => key === `${shown} ${address}`);
      if (node.isOver) this.#nodes.delete(key);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#ending.abort();
    await Promise.all([
      ...this.#running,
      ...Array.from(this.#nodes.values(), (node) => node.close()),
    ]);
  }
}

/** One engine node, connected again and again. */
class EngineNode {
  readonly #address: NodeAddress;
  readonly #options: EngineNodesOptions;
  readonly #serving: ServingModels;
  readonly #isUsed: (connection: NodeConnection) => boolean;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #connection: NodeConnection | undefined;
  /** Whether a lookup still finds the address. */
  isNamed = true;
  #isOver = false;
  #losses = 0;
  #problem: string | undefined;
  #loggedProblem: string | undefined;

  constructor(
    address: NodeAddress,
    options: EngineNodesOptions,
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

  get isKnown(): boolean {
    return this.#connection?.machine !== undefined && !this.#connection.isLoading;
  }

  /** Returns whether this node is connected to that run of a node, by another connection. */
  uses(runId: string, than: NodeConnection): boolean {
    const own = this.#connection;
    return own !== undefined && own !== than && own.machine !== undefined && own.runId === runId;
  }

  state(): EngineNodeState {
    const connection = this.#connection;
    const machine = connection?.machine;
    const { name, address, host } = this.#address;
    const children = machine ? (connection?.children ?? []) : [];
    return {
      address: host === address ? name : `${name} (${address})`,
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
        this.#problem = undefined;
        this.#loggedProblem = undefined;
        const { address } = this.#address;
        log.info({ node, address, version: connection.version }, "engine.node_joined");
      },
      ready: (child, model) => elsewhere.add(child, model),
      loaded: (child, model, report) => elsewhere.learn(child, model, report),
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

/** Whether a name needs no lookup. */
function isAddress({ host, main }: NodeName): boolean {
  return isIP(host) > 0 || main !== undefined;
}

function shownName({ host, port, main }: NodeName): string {
  if (main) return "main process";
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
