import { useSession } from "../api/use-session.ts";
import { PageHead } from "../parts/page-head.tsx";
import { accountText } from "../text/account.ts";
import { useText } from "../text/language.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Members } from "./members.tsx";
import { Sessions } from "./sessions.tsx";
import "../parts/rows.css";
import "./account.css";

/**
 * The account: its people and what was done, for those who keep it, and for everybody where they
 * are signed in.
 */
export function AccountPage() {
  const t = useText();
  const { account, role, scopes } = useSession();
  const keepsIt = scopes.includes("account");
  return (
    <div key={account.name} className="account">
      <PageHead title={account.displayName} {...(role && { sub: t(accountText.roleOf[role]) })} />
      {keepsIt && <Members />}
      <Sessions />
      {keepsIt && <AuditLog />}
    </div>
  );
}
