import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../fixtures/free-port.ts";
import { openFaultPostgres, type FaultPostgres } from "./open-fault-postgres.ts";
import { startService, type ServiceProcess } from "./process.ts";

/** A node that keeps its port and its folder when it is restarted. */
export interface RollingNode {
  readonly address: string;
  /** The running process. */
  readonly service: ServiceProcess;
  /** Stops the node gracefully; returns the exit code. */
  stop(): Promise<number | null>;
  /** Starts the node with a program, bin/hlust of any version. Default: this version. */
  start(program?: string): Promise<void>;
}

/** Several nodes that share a database and a media folder, without a balancer before them. */
export interface RollingNodes extends AsyncDisposable {
  readonly nodes: readonly RollingNode[];
  readonly postgres: FaultPostgres;
  /** The first API key. */
  readonly key: string;
}

/** Opens nodes of role `all` with the scripted engine, all started with `program`. */
export async function openRollingNodes(count: number, program?: string): Promise<RollingNodes> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-rolling-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = opened.use(await openFaultPostgres(join(folder, "pg"), {}));
  const media = join(folder, "media");
  mkdirSync(media);
  const nodes: RollingNode[] = [];
  for (let at = 0; at < count; at += 1) {
    const dataFolder = join(folder, `node${at + 1}`);
    mkdirSync(dataFolder);
    symlinkSync(media, join(dataFolder, "media"));
    const node = newNode(dataFolder, { url: postgres.url, port: await freePort() });
    opened.defer(async () => void (await node.stop()));
    // The first node makes the account and its key.
    await node.start(program);
    nodes.push(node);
  }
  const key = nodes[0]?.service.key ?? "";
  const open = opened.move();
  return { nodes, postgres, key, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

function newNode(
  dataFolder: string,
  { url, port }: { readonly url: string; readonly port: number },
): RollingNode {
  let service: ServiceProcess | undefined;
  const environment = {
    DATABASE_URL: url,
    HLUST_PORT: String(port),
    HLUST_ENGINE: "scripted",
    // Short, so that a restart is quick: what is open when it is over is handed to another node.
    HLUST_DRAIN: "1",
  };
  return {
    address: `http://127.0.0.1:${port}`,
    get service() {
      if (service === undefined) throw new Error("the node was not started");
      return service;
    },
    stop: async () => (service === undefined ? null : await service.stop()),
    async start(program) {
      service = await startService(
        dataFolder,
        environment,
        program === undefined ? {} : { program },
      );
    },
  };
}
