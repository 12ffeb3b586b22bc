import type { Kysely } from "kysely";
import { noLimits, type AccountLimits } from "../src/auth/limits.ts";
import { openMeter, type Meter } from "../src/auth/meter.ts";
import type { Tables } from "../src/database/tables.ts";
import { createLog } from "../src/std/log.ts";

/** A meter without limits, but for these. */
export function openTestMeter(db: Kysely<Tables>, limits: Partial<AccountLimits> = {}): Meter {
  return openMeter({ db, accountLimits: { ...noLimits, ...limits }, log: createLog("silent") });
}
