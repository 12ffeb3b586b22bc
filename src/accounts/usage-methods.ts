import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import { readKeyUsage, readMemberUsage, readUsageDays, type Used } from "../auth/usage-store.ts";
import type { Tables } from "../database/tables.ts";
import {
  KeyUsageSchema,
  MemberUsageSchema,
  UsageDaySchema,
  type Accounts,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { wholeSecondsOfMs } from "../std/duration.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, shown } from "../std/service-error.ts";

/** The default size of a page is a month. */
const pageSizeDefault = 31;

/** Creates the RPCs of the usage of an account, its keys and its members. */
export function usageMethods({
  db,
  pageTokens,
}: {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
}) {
  return {
    async listUsageDays({ pageSize, pageToken }, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "usageDays", accountId, filter: "" };
      const size = pageSize === 0 ? pageSizeDefault : pageSize;
      const page = readPageRequest(pageTokens, scope, { pageSize: size, pageToken });
      if (Array.isArray(page)) throw invalidArgument(page);
      const rows = await readUsageDays(db, accountId, {
        before: page.after?.[0],
        limit: page.size + 1,
      });
      const shown = rows.slice(0, page.size);
      const last = rows.length > page.size ? shown.at(-1) : undefined;
      return {
        usageDays: shown.map(({ date, ...used }) =>
          create(UsageDaySchema, { date, ...usedFields(used) }),
        ),
        nextPageToken: last ? pageTokens.write(scope, [last.date, accountId]) : "",
      };
    },

    async listKeyUsage({ month }, context) {
      const { accountId } = callerOf(context);
      requireMonth(month);
      const rows = await readKeyUsage(db, accountId, month);
      return {
        keyUsage: rows.map(({ key, ...used }) =>
          create(KeyUsageSchema, { key, ...usedFields(used) }),
        ),
      };
    },

    async listMemberUsage({ month }, context) {
      const { accountId } = callerOf(context);
      requireMonth(month);
      const rows = await readMemberUsage(db, accountId, month);
      return {
        memberUsage: rows.map(({ member, ...used }) =>
          create(MemberUsageSchema, { member, ...usedFields(used) }),
        ),
      };
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

function requireMonth(month: string): void {
  if (monthPattern.test(month)) return;
  const description = `must be a month such as 2026-11, not ${shown(month)}`;
  throw invalidArgument([{ field: "month", description }]);
}

/** A month of a year that the database can store; "" means the current month. */
export const monthPattern = /^([12][0-9]{3}-(0[1-9]|1[0-2]))?$/;

function usedFields({ requests, consoleRequests, liveMs, shortMs, jobMs }: Used) {
  return {
    requests: BigInt(requests),
    liveSeconds: wholeSecondsOfMs(liveMs),
    shortSeconds: wholeSecondsOfMs(shortMs),
    jobSeconds: wholeSecondsOfMs(jobMs),
    consoleRequests: BigInt(consoleRequests),
  };
}
