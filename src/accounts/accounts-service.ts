import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import type { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import type { Log } from "../std/log.ts";
import type { PageTokens } from "../std/page-token.ts";
import type { AccountMail } from "./account-mail.ts";
import { accountMethods } from "./account-methods.ts";
import { auditMethods } from "./audit-methods.ts";
import { callerMethod } from "./caller-method.ts";
import { keyChanges } from "./key-changes.ts";
import { keyMethods } from "./key-methods.ts";
import { memberMethods } from "./member-methods.ts";
import { sendInvitationMethod } from "./send-invitation-method.ts";
import { sessionMethods } from "./session-methods.ts";
import { signInLinkMethod } from "./sign-in-link-method.ts";
import { streamTokenMethods } from "./stream-token-methods.ts";
import { usageMethods } from "./usage-methods.ts";

/** Creates the RPCs of hlust.accounts.v1. */
export function createAccountsService({
  db,
  meter,
  pageTokens,
  log,
  publicUrl,
  mail,
  ...clock
}: {
  readonly db: Kysely<Tables>;
  readonly meter: Pick<Meter, "limitsOf" | "useOf">;
  readonly pageTokens: PageTokens;
  readonly log: Log;
  /** Returns the address of the service for browsers. */
  readonly publicUrl: () => string;
  readonly mail: AccountMail;
  readonly now?: () => number;
}): ServiceImpl<typeof Accounts> {
  return {
    ...accountMethods({ db, meter, log }),
    ...callerMethod({ db }),
    ...memberMethods({ db, log, mail }),
    ...sendInvitationMethod({ db, log, mail }),
    ...signInLinkMethod({ db, log, publicUrl, ...clock }),
    ...keyMethods({ db, meter, log, ...clock }),
    ...keyChanges({ db, meter, log, ...clock }),
    ...sessionMethods({ db, log, ...clock }),
    ...streamTokenMethods({ db, log }),
    ...auditMethods({ db, pageTokens }),
    ...usageMethods({ db, pageTokens }),
  };
}
