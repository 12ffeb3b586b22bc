import { listMembers, type StoredMember } from "../../accounts/member-store.ts";
import { didYouMean, nearest } from "../nearest-names.ts";
import { oneAccount } from "./one-account.ts";
import type { ServiceDatabase } from "./with-database.ts";

/**
 * Returns a member of an account, found by e-mail address in any case, or by id with or without the
 * prefix members/.
 */
export async function oneMember(
  db: ServiceDatabase,
  account: string | undefined,
  given: string,
): Promise<StoredMember> {
  const members = await listMembers(db, (await oneAccount(db, account)).id);
  const named = members.map((each) => {
    const names = [each.email.toLowerCase(), each.id, `members/${each.id}`];
    return { each, names };
  });
  const found = named.find(({ names }) => names.includes(given.toLowerCase()));
  if (found) return found.each;
  const near = nearest(named, given).map(({ each }) => each.email);
  throw new Error(`the account has no member ${JSON.stringify(given)}${didYouMean(near)}`);
}
