// A node:test reporter for information that the built-in summary omits: the skipped tests by
// reason, and how to repeat the cases of the files that failed.
import type { TestEvent } from "node:test/reporters";
import process from "node:process";
import { relative } from "node:path";
import { seedNames } from "./seeds.ts";

export default async function* report(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string, void> {
  const skips = new Map<string, number>();
  const failed = new Set<string>();
  for await (const { type, data } of source) {
    if (type === "test:fail" && data.file) failed.add(relative(process.cwd(), data.file));
    if (type !== "test:pass" || data.skip === undefined || data.skip === false) continue;
    const reason = typeof data.skip === "string" ? data.skip : "no reason given";
    skips.set(reason, (skips.get(reason) ?? 0) + 1);
  }
  for (const [reason, count] of skips) yield `skipped: ${count} (${reason})\n`;
  if (failed.size === 0) return;
  const seeds = seedNames.map((name) => `${name}=${process.env[name] ?? ""}`).join(" ");
  yield "To repeat a file that failed with the same cases:\n";
  for (const file of failed) {
    yield `  ${seeds} node --import ./test/fixtures/property-seed.ts --test ${file}\n`;
  }
}
