import { randomInt } from "node:crypto";

/**
 * Each run of the tests draws new cases from these seeds: of properties (fast-check), of the
 * commands of test/archive, and of kills and other faults. The same seed draws the same cases.
 */
export const seedNames = ["PROPERTY_SEED", "ARCHIVE_SEED", "FAULT_SEED"] as const;

/** The seeds that are set, and a new one for each seed that is not. */
export function drawSeeds(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const drawn = seedNames.map((name) => [name, env[name] || `${randomInt(1, 2 ** 31)}`] as const);
  return Object.fromEntries(drawn);
}
