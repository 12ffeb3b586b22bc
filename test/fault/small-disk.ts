import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** An in-memory file system that a test can fill. */
export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Fills the disk except for this many bytes. */
  fill(leftBytes: number): void;
  /** Deletes the data that fill() has written. */
  makeRoom(): void;
}

/** Mounts a small disk on a folder; returns the reason if this user may not mount one. */
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
      const bytes = Buffer.alloc(Math.max(0, bavail * bsize - leftBytes));
      try {
        writeFileSync(filler, bytes);
      } catch (error) {
        // Another writer has used the remaining space: the disk is full.
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      }
    },
    makeRoom() {
      rmSync(filler, { force: true });
    },
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", folder]);
    },
  };
}

/**
 * Runs a test of `file` with a disk mounted on a folder. A user who may not mount runs the test
 * again in a new namespace, where it is allowed; if that is impossible, the test is skipped.
 */
export async function withSmallDisk(
  context: TestContext,
  {
    folder,
    bytes,
    file,
  }: { readonly folder: string; readonly bytes: number; readonly file: string },
  run: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  const disk = mountSmallDisk(folder, bytes);
  if (typeof disk !== "string") {
    using _mounted = disk;
    await run(disk);
    return;
  }
  const namespace = ["--user", "--map-root-user", "--mount"];
  const isOutside = process.env["FAULT_INSIDE"] === undefined;
  if (!isOutside || spawnSync("unshare", [...namespace, "true"]).status !== 0) {
    context.skip(disk);
    return;
  }
  const inside = [process.execPath, "--test-name-pattern", context.name, file];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const ended = spawnSync("unshare", [...namespace, ...inside], {
    env: { ...env, FAULT_INSIDE: "1" },
    encoding: "utf8",
  });
  assert.equal(ended.status, 0, `${ended.stdout}${ended.stderr}`);
}
