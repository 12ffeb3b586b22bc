import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServingModels } from "../pool/serving-models.ts";
import { EngineNode, type EngineNodeOptions, type EngineNodeState } from "./engine-node.ts";
import { type MainProcess, mainProcessName } from "./node-address.ts";

/** An entry of HLUST_ENGINES: a name may stand for several nodes. */
export interface NodeName {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  /** The main process of this node, in place of the host. */
  readonly main?: MainProcess;
}

export interface EngineNodesOptions extends EngineNodeOptions {
  readonly names: readonly NodeName[];
  /** How often names are looked up. Default: 5 s. */
  readonly lookupMs?: number;
  /** Returns the addresses of a name. Default: those of the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

const lookupMsDefault = 5_000;
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
  /** The names that have been found, as in the setting. */
  readonly #found = new Set<string>();
  /** When the models of a node were first unknown, since those of all were known. */
  #unknownSinceMs: number | undefined = performance.now();

  constructor(serving: ServingModels, options: EngineNodesOptions) {
    this.#serving = serving;
    this.#options = options;
    for (const name of options.names) this.#running.push(this.#follow(name));
    this.#timer = setInterval(() => {
      const areAllKnown = this.unknown().length === 0;
      this.#unknownSinceMs = areAllKnown ? undefined : (this.#unknownSinceMs ?? performance.now());
      serving.elsewhere.forgetAbsent(areAllKnown);
    }, forgetMs);
  }

  state(): readonly EngineNodeState[] {
    return Array.from(this.#nodes.values(), (node) => node.state());
  }

  /** Returns the nodes whose models are not known now, since they are not reached or still load. */
  unknown(): readonly string[] {
    return this.#without(({ isKnown }) => isKnown);
  }

  /**
   * Returns the nodes whose models have never been known. Models of a node that is missing later
   * stay known until it is back.
   */
  neverKnown(): readonly string[] {
    return this.#without(({ wasKnown }) => wasKnown);
  }

  /** For how long the models of some node have not been known. */
  get unknownMs(): number {
    return this.#unknownSinceMs === undefined ? 0 : performance.now() - this.#unknownSinceMs;
  }

  #without(isKnown: (node: EngineNode) => boolean): readonly string[] {
    const names = this.#options.names.map(shownName).filter((name) => !this.#found.has(name));
    const nodes = [...this.#nodes.values()].filter((node) => node.isNamed && !isKnown(node));
    return [...names, ...nodes.map(({ shownAddress }) => shownAddress)];
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
        this.#found.add(shownName(name));
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

/** Whether a name needs no lookup. */
function isAddress({ host, main }: NodeName): boolean {
  return isIP(host) > 0 || main !== undefined;
}

function shownName({ host, port, main }: NodeName): string {
  if (main) return mainProcessName;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
