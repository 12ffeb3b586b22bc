import { readFileSync } from "node:fs";

/**
 * Returns the maximum number of files and sockets that this process can have open. This is its soft
 * limit, which Node raises to the hard limit.
 */
export function openFilesMax(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === "unlimited" ? Infinity : Number(soft);
}
