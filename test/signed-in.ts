import type { Kysely } from "kysely";
import type { Role } from "../src/auth/caller.ts";
import type { Session } from "../src/auth/session-store.ts";
import { createSessions, type Sessions } from "../src/auth/sessions.ts";
import type { Tables } from "../src/database/tables.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { testOrigin } from "./test-caller.ts";

/** Somebody who is signed in to the console. */
export interface SignedIn {
  readonly memberId: string;
  readonly sessionId: string;
  /** What the cookie has. */
  readonly secret: string;
  /** What a page of the console sends with each call under /console/api/: the cookie, and what shows that it is such a page. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes a member of the account and signs them in, straight in the database that the service has. */
export async function addSignedIn(
  db: Kysely<Tables>,
  accountId: string,
  role: Role,
  sessions: Sessions = createSessions({ db, log: createLog("silent") }),
): Promise<SignedIn> {
  const memberId = await addMember(db, accountId, role);
  const owner = { accountId, memberId };
  const visit = { origin: testOrigin, userAgent: "test", before: undefined };
  const { session, secret } = await sessions.open(owner, "open_id", visit);
  const headers = consoleHeaders(secret, { accountId, actor: session.actor });
  return { memberId, sessionId: session.id, secret, headers };
}

/** A member whom nobody has signed in as; answers the id. */
export async function addMember(
  db: Kysely<Tables>,
  accountId: string,
  role: Role,
  email = `${newId()}@example.org`,
): Promise<string> {
  const id = newId();
  await db
    .insertInto("member")
    .values({ id, account_id: accountId, email, display_name: "", role })
    .execute();
  return id;
}

/** The headers of a call by a page of the console, which is `of` somebody; `secret` undefined sends no cookie. */
export function consoleHeaders(
  secret: string | undefined,
  of?: Pick<Session, "accountId" | "actor">,
): Record<string, string> {
  return {
    ...(secret !== undefined && { cookie: `__Host-hlust=${secret}` }),
    ...(of && { "x-hlust-console-for": `accounts/${of.accountId} ${of.actor}` }),
    "sec-fetch-site": "same-origin",
    "x-hlust-console": "1",
  };
}
