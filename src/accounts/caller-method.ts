import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf, scopes, type Caller } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import { CallerSchema, Role, type Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";

/** Creates the RPC about the caller. */
export function callerMethod({ db }: { readonly db: Kysely<Tables> }) {
  return {
    async getCaller(_request, context) {
      const caller = callerOf(context);
      return create(CallerSchema, {
        account: `accounts/${caller.accountId}`,
        actor: caller.actor,
        displayName: await displayNameOf(db, caller),
        scopes: scopes.filter((scope) => caller.scopes.has(scope)),
        ...(caller.role && { role: Role[caller.role] }),
      });
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/**
 * Returns the display name of a caller; for a member without a name, the e-mail address. Returns ""
 * if the caller was deleted after the call began.
 */
async function displayNameOf(db: Kysely<Tables>, { accountId, actor }: Caller): Promise<string> {
  const [collection, id = ""] = actor.split("/");
  if (collection === "members") {
    const member = await db
      .selectFrom("member")
      .where("id", "=", id)
      .where("account_id", "=", accountId)
      .select(["display_name", "email"])
      .executeTakeFirst();
    return member ? member.display_name || member.email : "";
  }
  const key = await db
    .selectFrom(collection === "apiKeys" ? "api_key" : "client_key")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .select("display_name")
    .executeTakeFirst();
  return key?.display_name ?? "";
}
