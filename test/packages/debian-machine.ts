import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { until } from "../fixtures/until.ts";

const run = promisify(execFile);

/** A bare Debian 12 with systemd in a container, whose network is this machine's. */
export interface DebianMachine extends AsyncDisposable {
  /** The path of its root folder here. */
  readonly root: string;
  /** Copies a file into its folder /root, and returns the path there. */
  put(file: string): string;
  /** Runs a shell command in its root folder while it is off; returns standard output. */
  prepare(command: string): Promise<string>;
  boot(): Promise<void>;
  /** Runs a shell command in it, and returns its standard output and standard error. */
  run(command: string): Promise<string>;
}

/** Returns why machines cannot be booted here; undefined if they can. */
export async function whyNoMachine(): Promise<string | undefined> {
  if (process.env["PACKAGES"] !== "all") return "it takes minutes: npm run test:packages";
  if (process.geteuid?.() !== 0) return "the test does not run as root";
  for (const program of ["mmdebstrap", "systemd-nspawn"]) {
    const found = await run("sh", ["-c", `command -v ${program}`]).catch(() => undefined);
    if (!found) return `${program} is not installed: script/setup --packages`;
  }
  return undefined;
}

/** Installs a Debian from the package source of this machine. */
export async function openDebianMachine(): Promise<DebianMachine> {
  const folder = mkdtempSync(join(tmpdir(), "hlust-debian-"));
  const root = join(folder, "root");
  const packages = "--include=systemd,systemd-sysv,dbus,ca-certificates";
  const sources = "/etc/apt/sources.list.d/debian.sources";
  await run("mmdebstrap", ["--quiet", "--variant=minbase", packages, "bookworm", root, sources]);
  copyFileSync("/etc/resolv.conf", join(root, "etc/resolv.conf"));
  let machine: ChildProcess | undefined;
  let off: Promise<unknown> = Promise.resolve();
  /** Returns the machine's first process, which is not the first child that systemd-nspawn has. */
  const init = (): string => {
    assert.ok(machine?.pid !== undefined, "the machine is off");
    const children = readFileSync(`/proc/${machine.pid}/task/${machine.pid}/children`, "utf8");
    return children.trim().split(" ")[0] ?? "";
  };
  const inside = async (command: string): Promise<string> => {
    const namespaces = ["--target", init(), "--mount", "--uts", "--ipc", "--pid"];
    const shell = [
      "sh",
      "-euc",
      `exec 2>&1; export PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive; ${command}`,
    ];
    return (await run("nsenter", [...namespaces, ...shell], { maxBuffer: 1e8 })).stdout;
  };
  return {
    root,
    put(file) {
      copyFileSync(realpathSync(file), join(root, "root", basename(file)));
      return `/root/${basename(file)}`;
    },
    async prepare(command) {
      const env = { PATH: "/usr/sbin:/usr/bin", DEBIAN_FRONTEND: "noninteractive" };
      const shell = ["sh", "-euc", command];
      return (await run("chroot", [root, ...shell], { env, maxBuffer: 1e8 })).stdout;
    },
    async boot() {
      const isUnified = existsSync("/sys/fs/cgroup/cgroup.controllers");
      const options = ["--quiet", "--directory", root, "--register=no", "--keep-unit"];
      const more = ["--resolv-conf=off", "--boot"];
      const kernel = isUnified ? [] : ["systemd.unified_cgroup_hierarchy=0"];
      machine = spawn("systemd-nspawn", [...options, ...more, ...kernel], { stdio: "ignore" });
      off = once(machine, "exit");
      const state = "systemctl is-system-running || true";
      await until(async () => /running|degraded/.test(await inside(state)), 300_000);
    },
    run: inside,
    async [Symbol.asyncDispose]() {
      if (machine) await inside("systemctl poweroff").catch(() => machine?.kill("SIGKILL"));
      await off;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Adds lines to a file of the machine. */
export function addLines(machine: DebianMachine, path: string, lines: string): void {
  appendFileSync(join(machine.root, path), `${lines}\n`);
}
