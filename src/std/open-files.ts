import { readFileSync } from "node:fs";

/**
 * How many files and sockets this process can have open: its soft limit, which Node raises to the
 * hard limit.
 */
export function openFilesMax(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === "unlimited" ? Infinity : Number(soft);
}
