import { spawnSync } from "node:child_process";
import { createHash, randomInt } from "node:crypto";

/**
 * The seeds from which each run of the tests draws new cases: the cases of properties (fast-check),
 * the commands of test/archive, and kills and other faults. The same seed draws the same cases.
 */
export const seedNames = ["PROPERTY_SEED", "ARCHIVE_SEED", "FAULT_SEED"] as const;

/**
 * Returns the seeds that are set, and a seed for each that is not set. With CI=true this is a hash
 * of the committed files of the folder, so that each change is judged by cases of its own, which
 * are the same in each run; otherwise, and outside a checkout, it is drawn.
 */
export function drawSeeds(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): Record<string, string> {
  const tree = env["CI"] === "true" ? committedTree(folder) : undefined;
  const drawn = seedNames.map((name) => [name, env[name] || drawSeed(name, tree)] as const);
  return Object.fromEntries(drawn);
}

function drawSeed(name: string, tree: string | undefined): string {
  if (tree === undefined) return `${randomInt(1, 2 ** 31)}`;
  const hash = createHash("sha256").update(`${name} ${tree}`).digest();
  return `${1 + (hash.readUInt32BE() % (2 ** 31 - 1))}`;
}

/** Returns the id of the committed files of the folder, or undefined if it is not a checkout. */
function committedTree(folder: string): string | undefined {
  const git = spawnSync("git", ["rev-parse", "HEAD^{tree}"], { cwd: folder, encoding: "utf8" });
  return git.status === 0 ? git.stdout.trim() : undefined;
}
