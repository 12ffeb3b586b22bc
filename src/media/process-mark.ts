import { readFileSync, readlinkSync } from "node:fs";

/**
 * Returns an identifier of this process that is unique across all machines and valid in a file
 * name: boot, PID namespace, PID and start time. Without /proc, the identifier contains only the
 * PID, which proves nothing.
 */
export function processMark(): string {
  const here = place();
  const startTime = startTimeOf(process.pid);
  return here && startTime ? `${here}-${process.pid}-${startTime}` : `unknown-${process.pid}`;
}

/**
 * Returns whether the process with this identifier has certainly ended: the process ran in this
 * boot and PID namespace, and is no longer running.
 */
export function isGone(mark: string): boolean {
  const found = /^(?<at>[\da-f]+-\d+)-(?<pid>\d+)-(?<startTime>\d+)$/.exec(mark)?.groups;
  if (!found || found["at"] !== place()) return false;
  return startTimeOf(Number(found["pid"])) !== found["startTime"];
}

function place(): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "ascii").replaceAll(
      /[^\da-f]/g,
      "",
    );
    const namespace = readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
    return `${boot}-${namespace}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns field 22 of /proc/<pid>/stat, or undefined if there is no such process. The name in field
 * 2 can contain any character.
 */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
