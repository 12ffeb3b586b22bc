import { create } from "@bufbuild/protobuf";
import { sql, type Kysely } from "kysely";
import type { Meter } from "../auth/meter.ts";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import {
  AccountLimitsSchema,
  AccountUsageSchema,
  type Account,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { wholeSecondsOfMs } from "../std/duration.ts";

export type UsedLimits = Required<Pick<Account, "limits" | "usage">>;

/** Returns the limits of an account and its current use. */
export async function usedLimits(
  { db, meter }: { readonly db: Kysely<Tables>; readonly meter: Pick<Meter, "limitsOf" | "useOf"> },
  accountId: string,
): Promise<UsedLimits> {
  const { account: limits } = await meter.limitsOf({ accountId, keyId: undefined });
  const { requests, streams, audioMs } = await meter.useOf(accountId);
  const { rows } = await sql<{ jobs: number; bytes: string }>`
    select
      (select count(*)::int from transcript_job
        where account_id = ${accountId} and ${openIn.transcript_job})
        + (select count(*)::int from transcript_job
        where account_id = ${accountId} and state = 'WAITING_FOR_CONTENT')
        + (select count(*)::int from alignment_job
        where account_id = ${accountId} and ${openIn.alignment_job}) as jobs,
      (select coalesce(sum(size_bytes), 0) from media where account_id = ${accountId})
        + (select coalesce(sum(size_bytes), 0) from transcript_draft
        where account_id = ${accountId}) as bytes
  `.execute(db);
  const [stored = { jobs: 0, bytes: "0" }] = rows;
  return {
    limits: create(AccountLimitsSchema, { ...limits, storedBytes: BigInt(limits.storedBytes) }),
    usage: create(AccountUsageSchema, {
      requestsPerMinute: Math.ceil(requests),
      concurrentStreams: streams,
      queuedJobs: stored.jobs,
      audioSecondsPerDay: wholeSecondsOfMs(audioMs),
      storedBytes: BigInt(stored.bytes),
    }),
  };
}
