import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A file system of its own, in memory, that can be filled. */
export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Takes all room but so many bytes. */
  fill(leftBytes: number): void;
  /** Gives it back. */
  makeRoom(): void;
}

/** Mounts one on a folder; a sentence that says why where this user cannot. */
export function mountSmallDisk(folder: string, bytes: number): SmallDisk | string {
  mkdirSync(folder, { recursive: true });
  const options = `size=${bytes},mode=0700`;
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "hlust-test", folder]);
  if (mounted.status !== 0) {
    const why = mounted.error?.message ?? mounted.stderr.toString().trim();
    return `a small disk cannot be mounted here: ${why}`;
  }
  const filler = join(folder, "filler");
  return {
    folder,
    fill(leftBytes) {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
    },
    makeRoom() {
      rmSync(filler, { force: true });
    },
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", folder]);
    },
  };
}
