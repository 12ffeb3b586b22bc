import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSession } from "../api/use-session.ts";
import { Empty } from "../parts/empty.tsx";
import { isFirstLoad } from "../parts/is-first-load.ts";
import { PageHead } from "../parts/page-head.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { operatorText } from "../text/operator.ts";
import { ManagedAccounts } from "./managed-accounts.tsx";
import { Models } from "./models.tsx";
import { Nodes } from "./nodes.tsx";
import {
  catalogueQuery,
  managedAccountsQuery,
  modelTasksQuery,
  nodesQuery,
  queuesQuery,
} from "./operator-queries.ts";
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
        <Sections />
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

function Sections() {
  const t = useText();
  const isLoading = isFirstLoad([
    useQuery(nodesQuery),
    useQuery(queuesQuery),
    useQuery(catalogueQuery),
    useQuery(modelTasksQuery),
    useInfiniteQuery(managedAccountsQuery),
  ]);
  return (
    <>
      {isLoading && <p className="quiet">{t(commonText.loading)}</p>}
      <div className="use-page" hidden={isLoading}>
        <Nodes />
        <Queues />
        <Models />
        <ManagedAccounts />
      </div>
    </>
  );
}
