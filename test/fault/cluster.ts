import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFakeClock, type FakeClock } from "./fake-clock.ts";
import { openFaultPostgres, type FaultPostgres } from "./open-fault-postgres.ts";
import { startService, type ServiceProcess } from "./process.ts";

/**
 * An `hlust serve` process as on a machine of its own: with its own folder and clock, and with the
 * database and bucket that all nodes share.
 */
export class ClusterNode {
  readonly clock: FakeClock;
  readonly dataFolder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #service: ServiceProcess | undefined;
  /** The output of earlier processes of this node. */
  #earlier = "";

  constructor(dataFolder: string, environment: Readonly<Record<string, string>>) {
    this.dataFolder = dataFolder;
    this.clock = openFakeClock(`${dataFolder}.clock`);
    this.#environment = { ...environment, ...this.clock.environment };
  }

  get service(): ServiceProcess {
    if (!this.#service) throw new Error("the node was not started");
    return this.#service;
  }

  async start(): Promise<void> {
    if (this.#service) this.#earlier += this.#service.output().errors;
    this.#service = await startService(this.dataFolder, this.#environment);
  }

  /** Returns the number of times that the node has begun a job, before and after restarts. */
  begunCount(jobId: string): number {
    return this.#lines(jobId).filter((line) => line.includes(`"event":"job.started"`)).length;
  }

  /** Returns the number of lines in the node's log that are about a job. */
  linesOf(jobId: string): number {
    return this.#lines(jobId).length;
  }

  #lines(jobId: string): string[] {
    const text = this.#earlier + (this.#service?.output().errors ?? "");
    return text.split("\n").filter((line) => line.includes(jobId));
  }

  async end(): Promise<void> {
    this.#service?.child.kill("SIGCONT");
    await this.#service?.stop();
  }
}

export interface Cluster extends AsyncDisposable {
  readonly postgres: FaultPostgres;
  readonly databaseClock: FakeClock;
  /** Adds a node without starting it. */
  addNode(role: "api" | "worker"): ClusterNode;
}

/**
 * Opens a database for nodes that share the media, which is in a bucket if the settings name one,
 * and otherwise in a folder.
 */
export async function openCluster(settings: Readonly<Record<string, string>>): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-nodes-"));
  opened.defer(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const databaseClock = openFakeClock(join(folder, "database.clock"));
  const postgres = opened.use(
    await openFaultPostgres(join(folder, "pg"), databaseClock.environment),
  );
  const nodes: ClusterNode[] = [];
  opened.defer(async () => {
    await Promise.all(nodes.map((node) => node.end()));
  });
  const open = opened.move();
  return {
    postgres,
    databaseClock,
    addNode(role) {
      const dataFolder = join(folder, `${role}-${nodes.length}`);
      if (settings["S3_BUCKET"] === undefined) {
        mkdirSync(dataFolder);
        mkdirSync(join(folder, "media"), { recursive: true });
        symlinkSync(join(folder, "media"), join(dataFolder, "media"));
      }
      const node = new ClusterNode(dataFolder, {
        ...settings,
        HLUST_ROLE: role,
        HLUST_ENGINE: "scripted",
        DATABASE_URL: postgres.url,
      });
      nodes.push(node);
      return node;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
