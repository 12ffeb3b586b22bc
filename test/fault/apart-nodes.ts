import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineNodeState } from "../../src/engines/nodes/engine-node.ts";
import { freePort } from "../fixtures/free-port.ts";
import { type LineProxy, openLineProxy } from "../fixtures/line-proxy.ts";
import { until } from "../fixtures/until.ts";
import { type ServiceProcess, startService } from "./process.ts";

const credential = "the-credential-of-these-engine-nodes";

/** A node that can be ended and started again. An engine node keeps its port. */
export interface ApartNode {
  readonly service: ServiceProcess;
  start(): Promise<void>;
}

/** An engine node, and the line to it. */
export interface EngineProcess extends ApartNode {
  readonly line: LineProxy;
}

/** Engine nodes, and nodes without models that use them over lines that can be cut. */
export interface ApartNodes extends AsyncDisposable {
  readonly engines: readonly EngineProcess[];
  readonly apis: readonly ApartNode[];
  /** Waits until every node without models sees the engine node so. */
  untilNode(at: number, isSo: (node: EngineNodeState) => boolean): Promise<void>;
  /** Waits until all engine nodes are there with all of their processes. */
  untilAllBack(): Promise<void>;
}

/** How the engine nodes differ from those of the other tests. */
export interface ApartOptions {
  readonly engines: number;
  readonly apis: number;
  /** The role of the nodes without models. Default: `api`. */
  readonly role?: string;
  /** The processes of an engine node. Default: 2. */
  readonly processes?: number;
}

/** Returns the sessions in the processes of a node: on an engine node those of all clients. */
export async function sessionsOf({ service }: ApartNode): Promise<number> {
  const { parts } = JSON.parse(await (await fetch(`${service.address}/readyz`)).text());
  return parts.engines.sessions;
}

/** Returns how a node without models sees the engine nodes, in the order of its settings. */
export async function nodesOf({ service }: ApartNode): Promise<readonly EngineNodeState[]> {
  const { parts } = JSON.parse(await (await fetch(`${service.address}/readyz`)).text());
  return parts.engines.nodes;
}

export async function openApartNodes({
  engines: engineCount,
  apis: apiCount,
  role = "api",
  processes = 2,
}: ApartOptions): Promise<ApartNodes> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-engines-apart-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const engines: EngineProcess[] = [];
  for (let at = 0; at < engineCount; at += 1) {
    const port = await freePort();
    const node = await openNode(opened, join(folder, `engine${at}`), {
      HLUST_ROLE: "engine",
      HLUST_ENGINE: "scripted",
      HLUST_ENGINE_PROCESSES: String(processes),
      HLUST_ENGINE_LISTEN: `127.0.0.1:${port}`,
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_DRAIN: "30",
    });
    engines.push(Object.assign(node, { line: opened.use(await openLineProxy(port)) }));
  }
  const apis: ApartNode[] = [];
  for (let at = 0; at < apiCount; at += 1) {
    // Nodes with the same folder share its database, which ends with the first of them.
    const node = await openNode(opened, join(folder, "api"), {
      HLUST_ROLE: role,
      // The pieces of recordings on which it works at a time.
      HLUST_ENGINE_PROCESSES: String(processes),
      HLUST_ENGINES: engines.map(({ line }) => `127.0.0.1:${line.port}`).join(),
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_DRAIN_DELAY: "0",
    });
    apis.push(node);
  }
  const open = opened.move();
  const untilNode: ApartNodes["untilNode"] = async (at, isSo) => {
    await until(async () => {
      const all = await Promise.all(apis.map(nodesOf));
      return all.every((nodes) => nodes[at] !== undefined && isSo(nodes[at]));
    }, 60_000);
  };
  return {
    engines,
    apis,
    untilNode,
    async untilAllBack() {
      for (const at of engines.keys()) {
        await untilNode(
          at,
          (node) => node.connected && node.processes === processes && !node.leaving,
        );
      }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function openNode(
  opened: AsyncDisposableStack,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<ApartNode> {
  const start = async () => await startService(folder, environment);
  const node = {
    service: await start(),
    async start() {
      node.service = await start();
    },
  };
  opened.defer(async () => {
    // A process that a failed test has left suspended would not end.
    node.service.child.kill("SIGCONT");
    await node.service.stop();
  });
  return node;
}
