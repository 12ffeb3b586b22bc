import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSession } from "../api/use-session.ts";
import { isFirstLoad } from "../parts/is-first-load.ts";
import { PageHead } from "../parts/page-head.tsx";
import { accountText } from "../text/account.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { auditQuery, membersQuery, sessionsQuery, wholeLog } from "./account-query.ts";
import { AuditLog } from "./audit-log.tsx";
import { Members } from "./members.tsx";
import { Sessions } from "./sessions.tsx";
import "../parts/rows.css";
import "./account.css";

/**
 * The account page: the sessions and, for users who can manage the account, its members and its
 * audit log.
 */
export function AccountPage() {
  const t = useText();
  const { account, role, scopes } = useSession();
  const canManage = scopes.includes("account");
  const isLoading = isFirstLoad([
    useQuery({ ...membersQuery, enabled: canManage }),
    useQuery(sessionsQuery),
    useInfiniteQuery({ ...auditQuery(wholeLog), enabled: canManage }),
  ]);
  return (
    <div key={account.name} className="account">
      <PageHead title={account.displayName} {...(role && { sub: t(accountText.roleOf[role]) })} />
      {isLoading && <p className="quiet">{t(commonText.loading)}</p>}
      <div hidden={isLoading}>
        {canManage && <Members />}
        <Sessions />
        {canManage && <AuditLog />}
      </div>
    </div>
  );
}
