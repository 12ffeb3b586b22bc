import { join } from "node:path";
import { scopes } from "../../src/auth/caller.ts";
import { openDatabase } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { unsentMail } from "../fixtures/unsent-mail.ts";
import { openTestService } from "../spec/service.ts";
import type { Owner } from "./things.ts";

export interface AccessService extends AsyncDisposable {
  readonly address: string;
  /** Adds an account with a key of all scopes. */
  newOwner(): Promise<Owner>;
}

/**
 * Opens a service without a worker, so that jobs, webhook deliveries and mail wait, and its
 * database.
 */
export async function openAccessService(
  environment: Readonly<Record<string, string>>,
): Promise<AccessService> {
  await using parts = new AsyncDisposableStack();
  const { address, dataFolder } = parts.use(
    await openTestService({
      HLUST_ENGINE: "scripted",
      HLUST_ROLE: "api",
      HLUST_LOG: "silent",
      ...unsentMail,
      ...environment,
    }),
  );
  const folder = join(dataFolder, "postgres");
  const log = createLog("silent");
  const { db } = parts.use(await openDatabase({ url: undefined, folder, log }));
  const open = parts.move();
  return {
    address,
    async newOwner() {
      const accountId = await addAccount(db);
      const { token } = await addApiKey(db, accountId, [...scopes]);
      return { db, address, accountId, token };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
