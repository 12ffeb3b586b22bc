// The image has programs for one processor only, and is built for another than the machine's.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { binariesIn } from "./binaries.ts";
import type { Containers } from "./containers.ts";

const debian = process.arch === "x64" ? "amd64" : process.arch;
const other =
  process.arch === "x64"
    ? { processor: "arm64", architecture: "arm64" }
    : { processor: "x64", architecture: "amd64" };
const canRun = await promisify(execFile)("arch-test", [other.architecture]).catch(() => undefined);

/** Checks the image of this machine's architecture, and builds that of the other one. */
export function testArchitectures(
  containers: Containers,
  tag: string,
  limits: { readonly skip: string | boolean; readonly timeout: number },
): void {
  test("all programs of the image are for this machine's processor", limits, async () => {
    await testPrograms(containers, tag, process.arch, debian);
  });

  const why = `${other.architecture} cannot be run here: apt-get install qemu-user-static arch-test`;
  const skip = limits.skip || (canRun === undefined && why);
  test(
    `the image for ${other.architecture} is built here, with less than 900 MB`,
    { ...limits, skip },
    async (t) => {
      const elsewhere = `${tag}-${other.architecture}`;
      const seconds = await containers.build(elsewhere, `linux/${other.architecture}`);
      const size = await containers.podman("image", "inspect", "--format", "{{.Size}}", elsewhere);
      t.diagnostic(
        `built in ${seconds.toFixed(0)} s, ${(Number(size) / 1e6).toFixed(0)} MB unpacked`,
      );
      assert.ok(Number(size) > 300e6 && Number(size) < 900e6, `${size} bytes`);
      await testPrograms(containers, elsewhere, other.processor, other.architecture);
    },
  );
}

/** Checks that all programs of an image, also those of Debian, are for one processor. */
async function testPrograms(
  containers: Containers,
  tag: string,
  processor: string,
  architecture: string,
): Promise<void> {
  const of = await containers.podman("image", "inspect", "--format", "{{.Architecture}}", tag);
  assert.equal(of, architecture);
  const folder = await containers.podman("image", "mount", tag);
  try {
    const binaries = binariesIn(folder);
    assert.deepEqual([...binaries.keys()], [processor]);
    const names = binaries.get(processor) ?? [];
    assert.ok(names.length > 500, `${names.length} programs and libraries`);
    for (const program of ["usr/bin/ffmpeg", "usr/bin/bwrap"]) {
      assert.ok(names.includes(program), program);
    }
    assert.ok(names.some((name) => /^opt\/hlust\/.*\/node-linux-[^/]+\/bin\/node$/.test(name)));
  } finally {
    await containers.podman("image", "unmount", tag);
  }
}
