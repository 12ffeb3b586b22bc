import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** The user of the image. */
const imageUser = 10_001;
/** Podman's own limits are higher than a machine without CAP_SYS_RESOURCE allows. */
const settings = `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=30000:30000"]
`;

/** Where containers of the tests run: as root, in storage of their own, without systemd. */
export interface Containers extends AsyncDisposable {
  /** A folder that is deleted with the containers. */
  readonly folder: string;
  /** The environment in which script/image builds into the storage of these containers. */
  readonly building: NodeJS.ProcessEnv;
  /** Builds the image with script/image and returns how long it took, in seconds. */
  build(tag: string, platform?: string): Promise<number>;
  /** Runs a command of podman, and returns its standard output. */
  podman(...parameters: string[]): Promise<string>;
  /** Returns a new folder that belongs to the image's user. */
  volume(name: string): string;
  /** Runs a command in a container that ends with it, and returns its standard output. */
  runOnce(tag: string, command: readonly string[]): Promise<string>;
  /** Starts a container of the image without any privilege. */
  start(options: {
    readonly tag: string;
    readonly volume: string;
    readonly more?: readonly string[];
  }): Promise<RunningContainer>;
}

export interface RunningContainer {
  readonly id: string;
  readonly address: string;
  /** Waits until the service answers that it has started; fails with its log if it ends first. */
  started(): Promise<void>;
  /** Waits until the container has ended; returns its exit code and what it has printed. */
  ended(): Promise<{ readonly code: number; readonly said: string }>;
}

/** Returns why containers are not built and run here; undefined if they are. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.env["PACKAGES"] !== "all") return "it takes minutes: npm run test:packages";
  if (process.geteuid?.() !== 0) return "the test does not run as root";
  for (const program of ["buildah", "podman", "runc", "mmdebstrap"]) {
    const found = await run("sh", ["-c", `command -v ${program}`]).catch(() => undefined);
    if (!found) return `${program} is not installed: script/setup --packages`;
  }
  return undefined;
}

/** Opens storage for images. `isFresh` means that it has no layers of an earlier run. */
export function openContainers({ isFresh = false } = {}): Containers {
  const folder = mkdtempSync(join(tmpdir(), "hlust-containers-"));
  // Kept layers make the next build quick.
  const kept = (isFresh ? undefined : process.env["PACKAGES_STORAGE"]) ?? folder;
  const folders = ["--root", join(kept, "s"), "--runroot", join(kept, "r")];
  const storage = ["--storage-driver", "overlay", ...folders];
  const engine = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", ...storage];
  const own = join(folder, "containers.conf");
  writeFileSync(own, settings);
  const options = { maxBuffer: 1e8, env: { ...process.env, CONTAINERS_CONF: own } };
  const podman = async (...parameters: string[]): Promise<string> => {
    const { stdout } = await run("podman", [...engine, ...parameters], options);
    return stdout.trim();
  };
  const building = {
    ...process.env,
    ENGINE_OPTIONS: storage.join(" "),
    BUILD_OPTIONS: "--isolation chroot --network host",
  };
  const containers: Containers = {
    folder,
    podman,
    building,
    build: (tag, platform) => buildImage(tag, building, platform),
    volume(name) {
      const path = join(folder, name);
      mkdirSync(path, { mode: 0o700 });
      chownSync(path, imageUser, imageUser);
      return path;
    },
    async runOnce(tag, [program = "", ...parameters]) {
      const place = ["--rm", "--network", "host", "--entrypoint", program];
      return await podman("run", ...place, tag, ...parameters);
    },
    async start({ tag, volume, more = [] }) {
      const port = await freePort();
      const rights = ["--cap-drop", "all", "--security-opt", "no-new-privileges", "--read-only"];
      const place = ["--tmpfs", "/tmp", "--network", "host"];
      const values = ["--env", `HLUST_PORT=${port}`, "--env", "HLUST_HOST=127.0.0.1"];
      const mount = ["--volume", `${volume}:/var/lib/hlust`];
      const given = [...rights, ...place, ...values, ...mount, ...more, tag];
      const id = await podman("run", "--detach", ...given);
      const address = `http://127.0.0.1:${port}`;
      const state = (field: string) => podman("inspect", "--format", `{{.State.${field}}}`, id);
      const output = async () => {
        const { stdout, stderr } = await run("podman", [...engine, "logs", id]);
        return `${stdout}${stderr}`;
      };
      return {
        id,
        address,
        async started() {
          await until(async () => {
            const answer = await fetch(`${address}/startupz`).catch(() => undefined);
            return answer?.status === 200 || (await state("Running")) === "false";
          }, 300_000);
          assert.equal(await state("Running"), "true", await output());
        },
        async ended() {
          await until(async () => (await state("Running")) === "false", 120_000);
          return { code: Number(await state("ExitCode")), said: await output() };
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await podman("pod", "rm", "--all", "--force").catch(() => {});
      await podman("secret", "rm", "--all").catch(() => {});
      await podman("rm", "--all", "--force", "--time", "5").catch(() => {});
      await podman("unmount", "--all", "--force").catch(() => {});
      await podman("image", "unmount", "--all", "--force").catch(() => {});
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return containers;
}

/** Runs script/image. Returns how long it took, in seconds. */
async function buildImage(tag: string, env: NodeJS.ProcessEnv, platform?: string): Promise<number> {
  const began = performance.now();
  const options = ["--bare", "--engine", "buildah", "--tag", tag];
  if (platform !== undefined) options.push("--platform", platform);
  const child = spawn(join(root, "script/image"), options, {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let end = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    end = (end + text).slice(-4_000);
  });
  const [code]: unknown[] = await once(child, "close");
  assert.equal(code, 0, end);
  return (performance.now() - began) / 1_000;
}
