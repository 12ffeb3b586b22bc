import { join, resolve } from "node:path";
import { after, describe } from "node:test";
import { filesOfSuite } from "./suites.ts";

const root = resolve(import.meta.dirname, "../..");

/**
 * Runs the test files of a suite in this process, one after the other, each with its own hooks.
 * `afterFile` is called when a file has ended.
 */
export function runSuite(name: string, afterFile: () => void = () => {}): void {
  for (const file of filesOfSuite(name)) {
    // Hooks and tests belong to the file's own suite as long as its promise is pending.
    void describe(file, async () => {
      await import(join(root, file));
      after(afterFile);
    });
  }
}
