import { createHmac } from "node:crypto";
import { sql, type Kysely } from "kysely";
import type { CallOrigin } from "../auth/caller.ts";
import { emailLengthMax, foldEmail } from "../auth/email.ts";
import type { Tables } from "../database/tables.ts";
import { addressBlock } from "../std/address-block.ts";
import { newId } from "../std/ids.ts";
import { invalidArgument, ServiceError, type FieldViolation } from "../std/service-error.ts";
import { mailLanguages, type MailLanguage } from "./mail-options.ts";

/** What a person without a session asks for on the sign-in page. */
export interface AskedLink {
  readonly email: string;
  /** The language of the mail, one of mailLanguages. */
  readonly languageCode: string;
}

/**
 * Accepts a request for links that sign in the members with an e-mail address. Throws
 * invalid_argument, or resource_exhausted with the reason TOO_MANY_LINK_REQUESTS (of the network
 * address) or LINK_REQUESTED_TOO_OFTEN (of the e-mail address). Nothing that it does depends on
 * whether there are such members: a worker looks for them later (answer-link-requests.ts).
 */
export type RequestLink = (asked: AskedLink, origin: CallOrigin) => Promise<void>;

/** How many requests are accepted at once, and evenly spread in each following `perMs`. */
interface RequestLimit {
  readonly max: number;
  readonly perMs: number;
}

/** The limit of an e-mail address, so that no person is flooded. */
export const perEmail: RequestLimit = { max: 5, perMs: 24 * 3_600_000 };
/** The limit of a network address (for IPv6, of its /64), which many people may share. */
export const perAddress: RequestLimit = { max: 30, perMs: 3_600_000 };

/** Creates the function behind the form of the sign-in page. `key` makes the hashes of limits. */
export function createLinkRequests({
  db,
  key,
}: {
  readonly db: Kysely<Tables>;
  readonly key: Buffer;
}): RequestLink {
  const keyOf = (kind: "email" | "address", text: string): Buffer =>
    createHmac("sha256", key).update(`${kind} ${text}`).digest();
  return async (asked, { address, requestId }) => {
    const { email, language } = checkAsked(asked);
    // The network address comes first: one over its limit uses up nothing of an e-mail address.
    const addressMs = await waitFor(db, keyOf("address", addressBlock(address)), perAddress);
    if (addressMs > 0) throw tooManyRequests(addressMs);
    const emailMs = await waitFor(db, keyOf("email", email), perEmail);
    if (emailMs > 0) throw requestedTooOften(emailMs);
    await db
      .insertInto("link_request")
      .values({ id: newId(), email, language, address, request_id: requestId })
      .execute();
  };
}

/**
 * Takes one request of a limit, by the clock of the database, with one statement, so that no number
 * of concurrent requests on any number of nodes gets more. Returns 0, or if the limit is used up,
 * how long it is until there is another one.
 */
async function waitFor(
  db: Kysely<Tables>,
  key: Buffer,
  { max, perMs }: RequestLimit,
): Promise<number> {
  const every = sql`${perMs / max} * interval '1 millisecond'`;
  // A later time was written before the clock of the database was set back.
  const isStale = sql`l.full_at > now() + ${max}::int * ${every}`;
  const { rows: taken } = await sql`
    insert into link_request_limit as l (key, full_at) values (${key}, now() + ${every})
    on conflict (key) do update
    set full_at = case when ${isStale} then now() else greatest(l.full_at, now()) end + ${every}
    where l.full_at <= now() + ${max - 1}::int * ${every} or ${isStale}
    returning 1
  `.execute(db);
  if (taken.length > 0) return 0;
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from full_at - ${max - 1}::int * ${every} - now()) * 1000)::float8 as ms
    from link_request_limit where key = ${key}
  `.execute(db);
  return Math.max(Math.ceil(rows[0]?.ms ?? 0), 1);
}

/** Returns the checked fields. Errors do not have the address, since errors may be logged. */
function checkAsked(asked: AskedLink): {
  readonly email: string;
  readonly language: MailLanguage;
} {
  const email = foldEmail(asked.email);
  const language = mailLanguages.find((each) => each === asked.languageCode);
  if (email !== undefined && language) return { email, language };
  const violations: FieldViolation[] = [];
  if (email === undefined) {
    const description = `must be an ASCII e-mail address of at most ${emailLengthMax} characters`;
    violations.push({ field: "email", description });
  }
  if (!language) {
    const description = `must be one of ${mailLanguages.join(", ")}`;
    violations.push({ field: "languageCode", description });
  }
  throw invalidArgument(violations);
}

function tooManyRequests(retryAfterMs: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `too many links were requested from this network address; at most ${perAddress.max} an hour are allowed: try again later`,
    { reason: "TOO_MANY_LINK_REQUESTS", retryAfterMs, metadata: { limit: `${perAddress.max}` } },
  );
}

function requestedTooOften(retryAfterMs: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `too many links were requested for this e-mail address; at most ${perEmail.max} a day are allowed: try again later, or ask an owner of the account for a link`,
    { reason: "LINK_REQUESTED_TOO_OFTEN", retryAfterMs, metadata: { limit: `${perEmail.max}` } },
  );
}
