import { readdirSync, readFileSync } from "node:fs";

const names = new Set(["ffmpeg", "ffprobe", "bwrap", "prlimit", "setpriv", "nice"]);

/** The programs that read media for a process, itself or through others, by their ids. */
export function mediaPrograms(of: number = process.pid): number[] {
  const processes = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [, command = "", after = ""] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
      const [state, parent] = after.split(" ");
      return state === "Z" ? [] : [{ id: Number(name), command, parent: Number(parent) }];
    } catch {
      // It has ended.
      return [];
    }
  });
  const parents = new Map(processes.map(({ id, parent }) => [id, parent]));
  const isOurs = (id: number): boolean => {
    for (let at = parents.get(id); at !== undefined; at = parents.get(at))
      if (at === of) return true;
    return false;
  };
  return processes
    .filter(({ id, command }) => names.has(command) && isOurs(id))
    .map(({ id }) => id);
}
