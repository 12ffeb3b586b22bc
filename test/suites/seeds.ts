import { randomInt } from "node:crypto";

/**
 * Each run of the tests draws other cases, by these seeds: of properties (fast-check), of the
 * archive's commands, and of kills and other faults. The same seed draws the same cases.
 */
export const seedNames = ["PROPERTY_SEED", "ARCHIVE_SEED", "FAULT_SEED"] as const;

/** The seeds that are set; a new one for each that is not. */
export function drawSeeds(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const drawn = seedNames.map((name) => [name, env[name] || `${randomInt(1, 2 ** 31)}`] as const);
  return Object.fromEntries(drawn);
}
