import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { addAccount, addApiKey, addClientKey } from "../../test/fixtures/auth-fixture.ts";
import { openTestAccounts } from "../../test/fixtures/open-test-accounts.ts";
import { addMember } from "../../test/fixtures/signed-in.ts";
import { callBy, testCaller } from "../../test/fixtures/test-caller.ts";
import type { Caller, Scope } from "../auth/caller.ts";
import type { Database } from "../database/database.ts";
import {
  CallerSchema,
  GetCallerRequestSchema,
  Role,
  type Accounts,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { newId } from "../std/ids.ts";

let database: Database;
let accounts: ServiceImpl<typeof Accounts>;
before(async () => {
  ({ database, accounts } = await openTestAccounts());
});
after(() => database[Symbol.asyncDispose]());

describe("getCaller()", () => {
  const ask = async (caller: Caller) =>
    create(CallerSchema, await accounts.getCaller(create(GetCallerRequestSchema), callBy(caller)));

  it("returns the caller, its display name and its scopes", async () => {
    const { db } = database;
    const accountId = await addAccount(db);
    const apiKey = await addApiKey(db, accountId, ["speech"]);
    await db
      .updateTable("api_key")
      .set({ display_name: "Sími" })
      .where("id", "=", apiKey.id)
      .execute();
    const clientKey = await addClientKey(db, accountId, "ES256");
    const member = await addMember(db, accountId, "VIEWER");
    await db.updateTable("member").set({ display_name: "Anna" }).where("id", "=", member).execute();
    const nameless = await addMember(db, accountId, "OWNER", "bo@example.is");
    const rows: [caller: Partial<Caller>, displayName: string][] = [
      [{ actor: `apiKeys/${apiKey.id}` }, "Sími"],
      [{ actor: `clientKeys/${clientKey.id}` }, ""],
      [{ actor: `members/${member}`, role: "VIEWER" }, "Anna"],
      [{ actor: `members/${nameless}`, role: "OWNER" }, "bo@example.is"],
      [{ actor: `apiKeys/${newId()}` }, ""],
    ];
    for (const [own, displayName] of rows) {
      const held = new Set<Scope>(["speech", "transcripts.read"]);
      const answer = await ask({ ...testCaller(accountId, []), ...own, scopes: held });
      assert.equal(answer.account, `accounts/${accountId}`);
      assert.equal(answer.actor, own.actor);
      assert.equal(answer.displayName, displayName);
      assert.equal(answer.role, own.role && Role[own.role]);
      assert.deepEqual(answer.scopes, ["transcripts.read", "speech"]);
    }
  });
});
