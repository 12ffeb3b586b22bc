// Two builds of the image, from nothing each, which must have the same bytes.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { openContainers, type Containers } from "./containers.ts";

/** Builds the image again in storage without any layer, and compares it with the one there is. */
export function testSameBytes(
  containers: Containers,
  tag: string,
  options: { readonly skip: string | boolean; readonly timeout: number },
): void {
  // Layers that are kept have the times of the commit that made them.
  const isKept = process.env["PACKAGES_STORAGE"] !== undefined && "PACKAGES_STORAGE is set";
  const skip = options.skip || isKept;
  const own = { ...options, skip };
  test("a second build of the image from nothing has the same digest", own, async (t) => {
    await using others = openContainers({ isFresh: true });
    const seconds = await others.build(tag);
    const [first, second] = [await partsOf(containers, tag), await partsOf(others, tag)];
    t.diagnostic(`built in ${seconds.toFixed(0)} s: ${second.digest}`);
    const isSame = first.layers.join() === second.layers.join();
    const files = isSame ? "" : await differentFiles(containers, others, tag);
    assert.deepEqual(second, first, files);
  });
}

/** Returns the checksums of an image: of its layers, its settings, and of both together. */
async function partsOf(containers: Containers, tag: string) {
  const [
    {
      Digest: digest,
      Id: settings,
      RootFS: { Layers: layers },
    },
  ]: [{ Digest: string; Id: string; RootFS: { Layers: string[] } }] = JSON.parse(
    await containers.podman("image", "inspect", tag),
  );
  assert.ok(layers.length >= 3 && digest.startsWith("sha256:"));
  return { layers, settings, digest };
}

async function differentFiles(first: Containers, second: Containers, tag: string): Promise<string> {
  const mounted = await Promise.all(
    [first, second].map((one) => one.podman("image", "mount", tag)),
  );
  const options = ["--recursive", "--brief", "--no-dereference", ...mounted];
  const { stdout } = await promisify(execFile)("diff", options, { maxBuffer: 1e8 }).catch(
    (error: { stdout: string }) => error,
  );
  const lines = stdout.trim().split("\n");
  return [`${lines.length} files differ`, ...lines.slice(0, 50)].join("\n");
}
