import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const file = resolve(import.meta.dirname, "../../deploy/compose.yaml");

/**
 * Returns a function that runs a command of podman-compose with deploy/compose.yaml and an image,
 * and returns its output. It has the storage of openContainers(), of which `folder` is the folder,
 * and its limits.
 */
export function podmanCompose(
  folder: string,
  image: string,
): (...parameters: readonly string[]) => Promise<string> {
  const kept = process.env["PACKAGES_STORAGE"] ?? folder;
  const storage = join(folder, "storage.conf");
  const places = `graphroot = "${join(kept, "s")}"\nrunroot = "${join(kept, "r")}"\n`;
  writeFileSync(storage, `[storage]\ndriver = "overlay"\n${places}`);
  const containers = join(folder, "containers.conf");
  const engine = `runtime = "runc"\ncgroup_manager = "cgroupfs"`;
  writeFileSync(containers, `[engine]\n${engine}\n`);
  const limits = join(folder, "limits.yaml");
  const ulimits = { nofile: 20_000, nproc: 30_000 };
  writeFileSync(limits, JSON.stringify({ services: { hlust: { ulimits } } }));
  const env = {
    ...process.env,
    CONTAINERS_STORAGE_CONF: storage,
    CONTAINERS_CONF: containers,
    HLUST_IMAGE: image,
  };
  return async (...parameters) => {
    const words = ["-f", file, "-f", limits, ...parameters];
    const { stdout, stderr } = await promisify(execFile)("podman-compose", words, { env });
    return `${stdout}${stderr}`;
  };
}
