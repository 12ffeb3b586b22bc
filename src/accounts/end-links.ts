import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { cancelMail } from "../mail/mail-store.ts";

/**
 * Ends the links that sign a member in, also those in mail that has not been sent. Requires a lock
 * on the member.
 */
export async function endLinks(trx: Transaction<Tables>, memberId: string): Promise<void> {
  await cancelMail(trx, memberId);
  await trx.deleteFrom("sign_in_token").where("member_id", "=", memberId).execute();
}
