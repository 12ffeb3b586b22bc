import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runHlust, type EndedCommand } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import type { ClusterPlaces, Place } from "./cluster-places.ts";
import { deployFolder, environmentOf, type Service } from "./composition.ts";

const hlust = resolve(import.meta.dirname, "../../bin/hlust");
const containerfile = readFileSync(join(deployFolder, "Containerfile"), "utf8");

/** What the image of deploy/Containerfile declares. */
export const image = {
  environment: Object.fromEntries(
    [...(/^ENV (.*)$/m.exec(containerfile)?.[1] ?? "").matchAll(/(\w+)=(\S+)/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  ),
  volumes: [...containerfile.matchAll(/^VOLUME (\S+)$/gm)].map(([, path = ""]) => path),
  healthcheck: wordsOf(/^HEALTHCHECK .*CMD (\[.*\])$/m),
  command: wordsOf(/^CMD (\[.*\])$/m),
} as const;

function wordsOf(line: RegExp): readonly string[] {
  const words: readonly string[] = JSON.parse(line.exec(containerfile)?.[1] ?? "[]");
  return words;
}

/**
 * A node of the cluster: bin/hlust with the command and the environment of the image and of the
 * compose file, and with nothing else.
 */
export class ClusterNode implements AsyncDisposable {
  readonly place: Place;
  readonly #service: Service;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #output = "";

  constructor(place: Place, service: Service, places: ClusterPlaces) {
    this.place = place;
    this.#service = service;
    const given = { ...image.environment, ...environmentOf(service) };
    this.#environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, places.placed(value, place)]),
    );
  }

  /** The address for clients, and of other nodes and balancers. */
  get address(): string {
    return `http://${this.place.address}:${this.#environment["HLUST_PORT"]}`;
  }

  /** The folder of HLUST_DATA. */
  get dataFolder(): string {
    return this.#environment["HLUST_DATA"] ?? "";
  }

  /** What the node has written since its last start. */
  get output(): string {
    return this.#output;
  }

  /** The events of the log since the last start. */
  get events(): readonly { readonly event: string; readonly level: string }[] {
    return this.#output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  }

  /** Runs a command of hlust in the container, as `exec` does. */
  async exec(...words: readonly string[]): Promise<EndedCommand> {
    return await runHlust(words, this.#environment);
  }

  /** Starts the node, and resolves when it has loaded its models. */
  async start(): Promise<void> {
    this.#output = "";
    const command = ["--pdeathsig", "KILL", hlust, ...image.command];
    const child = spawn("/usr/bin/setpriv", command, {
      cwd: this.dataFolder,
      env: { PATH: process.env["PATH"], ...this.#environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    const exited = once(child, "exit").then(() => {
      throw new Error(`${this.place.name} has ended:\n${this.#output}`);
    });
    exited.catch(() => {});
    const ready = until(
      async () => Promise.resolve(/^hlust: ready at/m.test(this.#output)),
      90_000,
    );
    await Promise.race([ready, exited]);
  }

  /** Runs the health check of the image. Fails if it does not pass. */
  async checkHealth(): Promise<void> {
    const [, , ...words] = image.healthcheck;
    const { code, out, errors } = await this.exec(...words);
    if (code !== 0) throw new Error(`${this.place.name} is not healthy: ${out}${errors}`);
  }

  /** Kills the node, as a crash would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops the node as compose does, and returns the exit code; null if it had to be killed. */
  async stop(): Promise<number | null> {
    const graceMs = 1_000 * Number.parseInt(this.#service.stop_grace_period ?? "10s", 10);
    const late = setTimeout(() => this.#child?.kill("SIGKILL"), graceMs);
    try {
      return await this.#end("SIGTERM");
    } finally {
      clearTimeout(late);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child) return null;
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
