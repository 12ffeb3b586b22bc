import type { ServiceImpl } from "@connectrpc/connect";
import { createAccountsService } from "../src/accounts/accounts-service.ts";
import type { Database } from "../src/database/database.ts";
import type { Accounts } from "../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { createLog } from "../src/std/log.ts";
import { createPageTokens } from "../src/std/page-token.ts";
import { openTestDatabase } from "./open-test-database.ts";
import { openTestMeter } from "./open-test-meter.ts";

/** The methods of hlust.accounts.v1, without a door, on a database of the test's, which it disposes of. */
export async function openTestAccounts(): Promise<{
  readonly database: Database;
  readonly accounts: ServiceImpl<typeof Accounts>;
}> {
  const database = await openTestDatabase();
  const { db } = database;
  const accounts = createAccountsService({
    db,
    meter: openTestMeter(db),
    pageTokens: createPageTokens(Buffer.alloc(32, 1)),
    log: createLog("silent"),
  });
  return { database, accounts };
}
