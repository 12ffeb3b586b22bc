import { create } from "@bufbuild/protobuf";
import type { Kysely, Selectable } from "kysely";
import type { MemberTable } from "../database/access-tables.ts";
import type { Tables } from "../database/tables.ts";
import {
  InvitationMail_Problem,
  InvitationMail_State,
  InvitationMailSchema,
  MemberSchema,
  Role,
  type InvitationMail,
  type Member,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { mailProblems } from "../mail/explain-failure.ts";
import { latestMail, type ShownMail } from "../mail/mail-store.ts";
import { timestampFromDate } from "../std/duration.ts";

/** Returns the message of a member, with the latest mail to the member. */
export async function memberWithMail(
  db: Kysely<Tables>,
  row: Selectable<MemberTable>,
): Promise<Member> {
  const mail = await latestMail(db, [row.id]);
  return memberMessage(row, mail.get(row.id));
}

/** Returns the messages of members, each with the latest mail to the member. */
export async function membersWithMail(
  db: Kysely<Tables>,
  rows: readonly Selectable<MemberTable>[],
): Promise<Member[]> {
  const ids = rows.map(({ id }) => id);
  const mail = await latestMail(db, ids);
  return rows.map((row) => memberMessage(row, mail.get(row.id)));
}

/** Returns the message of a member. `mail`: the latest mail to the member; undefined if none. */
export function memberMessage(row: Selectable<MemberTable>, mail?: ShownMail): Member {
  return create(MemberSchema, {
    name: `members/${row.id}`,
    email: row.email,
    displayName: row.display_name,
    role: Role[row.role],
    creationTime: timestampFromDate(row.created_at),
    ...(row.last_sign_in_at && { lastSignInTime: timestampFromDate(row.last_sign_in_at) }),
    ...(mail && { invitationMail: mailMessage(mail) }),
  });
}

function mailMessage(mail: ShownMail): InvitationMail {
  const { state, createdAt, lastAttemptAt, attempts, response } = mail;
  // A later version may have stored another problem.
  const problem = mailProblems.find((known) => known === mail.problem);
  return create(InvitationMailSchema, {
    state: InvitationMail_State[state],
    creationTime: timestampFromDate(createdAt),
    attempts,
    ...(lastAttemptAt && { lastAttemptTime: timestampFromDate(lastAttemptAt) }),
    ...(mail.problem !== null && { problem: InvitationMail_Problem[problem ?? "INTERNAL"] }),
    ...(response !== null && { response }),
  });
}
