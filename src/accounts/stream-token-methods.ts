import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import { createStreamToken } from "../auth/stream-token.ts";
import type { Tables } from "../database/tables.ts";
import type { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import type { Log } from "../std/log.ts";

/** Creates the RPC that creates tokens for live streams of browsers. */
export function streamTokenMethods(parts: { readonly db: Kysely<Tables>; readonly log: Log }) {
  return {
    async createStreamToken(_request, context) {
      const { token, expiresAt } = await createStreamToken(parts, callerOf(context));
      return { token, expireTime: timestampFromDate(expiresAt) };
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}
