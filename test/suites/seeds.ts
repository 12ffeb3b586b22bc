import { randomInt } from "node:crypto";

/**
 * The seeds from which each run of the tests draws new cases: the cases of properties (fast-check),
 * the commands of test/archive, and kills and other faults. The same seed draws the same cases.
 */
export const seedNames = ["PROPERTY_SEED", "ARCHIVE_SEED", "FAULT_SEED"] as const;

/** Returns the seeds that are set, and a new seed for each seed that is not set. */
export function drawSeeds(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const drawn = seedNames.map((name) => [name, env[name] || `${randomInt(1, 2 ** 31)}`] as const);
  return Object.fromEntries(drawn);
}
