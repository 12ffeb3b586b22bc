import { readdir, readFile, readlink } from "node:fs/promises";
import { basename, join } from "node:path";

/** A running process, as read from /proc. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** The name of the program; for an interpreter, the name of its script. */
  readonly name: string;
  /** The CPU time used so far, including that of ended children. */
  readonly cpuMs: number;
}

/** Linux reports CPU times in hundredths of a second. */
const msPerTick = 10;
const interpreters = /^(node|python[\d.]*|ruby|java|bun|deno|perl)$/;

/**
 * Returns the processes `roots` and all their descendants, each once. The list is empty if they
 * have ended or there is no /proc.
 */
export async function processTree(...roots: readonly number[]): Promise<ProcessInfo[]> {
  const all = await allProcesses();
  const tree = all.filter(({ pid }) => roots.includes(pid));
  const others = all.filter(({ pid }) => !roots.includes(pid));
  for (const each of tree) tree.push(...others.filter(({ parent }) => parent === each.pid));
  return tree;
}

async function allProcesses(): Promise<ProcessInfo[]> {
  const found = (await processIds()).map((pid) => readProcess(pid).catch(() => undefined));
  return (await Promise.all(found)).filter((each) => each !== undefined);
}

async function processIds(): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

async function readProcess(pid: number): Promise<ProcessInfo> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0);
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8");
  return { pid, parent: Number(fields[1]), name: nameOf(command), cpuMs: ticks * msPerTick };
}

function nameOf(command: string): string {
  const [program = "", ...args] = command.split("\0");
  // PostgreSQL includes its activity in its process name: "postgres: checkpointer".
  const [name = ""] = basename(program).split(":");
  if (!interpreters.test(name)) return name;
  const script = args.find((arg) => arg !== "" && !arg.startsWith("-"));
  return script === undefined ? name : basename(script);
}

/** Returns the proportional memory (PSS) of a process, or undefined if it cannot be read. */
export async function pssBytes(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/**
 * Returns the process that listens on this TCP port of this machine, or undefined if there is none
 * or it is not visible.
 */
export async function listenerOf(port: number): Promise<number | undefined> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((table) =>
    readFile(table, "utf8").catch(() => ""),
  );
  const sockets = new Set((await Promise.all(tables)).flatMap((table) => inodesOf(table, port)));
  if (sockets.size === 0) return undefined;
  const holders: number[] = [];
  for (const pid of await processIds()) {
    if ((await openFilesOf(pid)).some((path) => sockets.has(path))) holders.push(pid);
  }
  // Children can inherit the socket. The server is the parent of such children.
  const infos = (await allProcesses()).filter(({ pid }) => holders.includes(pid));
  return infos.find(({ parent }) => !holders.includes(parent))?.pid;
}

/** Returns the inodes of the sockets that listen on the port. */
function inodesOf(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const listening = "0A";
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === listening && local.endsWith(ending) && inode ? [`socket:[${inode}]`] : [];
  });
}

/**
 * Returns the process of the service's own PostgreSQL. That process outlives the service and is not
 * its child, so it is found by its data folder, which the service has open.
 */
export async function ownPostgresOf(pid: number): Promise<number | undefined> {
  for (const path of new Set(await openFilesOf(pid))) {
    if (!path.startsWith("/")) continue;
    const text = await readFile(join(path, "postmaster.pid"), "utf8").catch(() => "");
    const [line = ""] = text.split("\n");
    if (/^\d+$/.test(line)) return Number(line);
  }
  return undefined;
}

async function openFilesOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  return await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => "")));
}
