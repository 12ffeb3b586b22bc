import assert from "node:assert/strict";
import { runHlust } from "../fixtures/run-hlust.ts";

/**
 * Asserts that `bin/hlust fsck` finds nothing wrong in a data folder; the service may be running.
 */
export async function fsckClean(
  dataFolder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const ended = await runHlust(["fsck"], { HLUST_DATA: dataFolder, ...environment });
  assert.equal(ended.code, 0, `${ended.out}${ended.errors}`);
}
