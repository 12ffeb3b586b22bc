import { useSession } from "../api/use-session.ts";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { operatorText } from "../text/operator.ts";
import { ManagedAccounts } from "./managed-accounts.tsx";
import { Models } from "./models.tsx";
import { Nodes } from "./nodes.tsx";
import { Queues } from "./queues.tsx";
import "../usage/usage-page.css";
import "./operator.css";

/** The whole service, for operators: its nodes, queues, models and accounts. */
export function OperatorPage() {
  const t = useText();
  const { scopes } = useSession();
  if (scopes.includes("operator")) {
    return (
      <div className="use-page">
        <PageHead title={t(commonText.operation)} sub={t(operatorText.sub)} />
        <Nodes />
        <Queues />
        <Models />
        <ManagedAccounts />
      </div>
    );
  }
  return (
    <>
      <PageHead title={t(commonText.operation)} />
      <Empty title={t(operatorText.notAllowed)}>
        <p>{t(operatorText.notAllowedNext)}</p>
      </Empty>
    </>
  );
}
