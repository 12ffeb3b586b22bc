import { spawnSync } from "node:child_process";
import process from "node:process";
import koffi from "koffi";

const newNetwork = 0x40_00_00_00;

/** Returns why this process cannot have a network of its own; undefined if it can. */
export function whyNoOwnNetwork(): string | undefined {
  if (process.geteuid?.() !== 0) return "the test does not run as root";
  const { status } = spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"]);
  return status === 0 ? undefined : "no network of its own can be made here (unshare --net, ip)";
}

/**
 * Moves this process, with all that it starts from then on, into a network of its own, in which
 * nothing else listens. All addresses of `subnet` are those of its only interface, too.
 */
export function enterOwnNetwork(subnet?: string): void {
  // Only the main thread and its children are there, since the kernel keeps it by thread.
  const moved: unknown = koffi.load(null).func("int unshare(int)")(newNetwork);
  if (moved !== 0) throw new Error(`unshare: error ${koffi.errno()}`);
  const addresses = subnet?.replace(/\.0\//, ".1/");
  for (const words of [
    ["link", "set", "lo", "up"],
    ...(addresses === undefined ? [] : [["address", "add", addresses, "dev", "lo"]]),
  ]) {
    const { status, stderr } = spawnSync("ip", words, { encoding: "utf8" });
    if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr}`);
  }
}
