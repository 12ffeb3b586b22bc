import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ManagedAccountJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { useSession } from "../api/use-session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Chip } from "../parts/chip.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText, numberText, spanText } from "../text/numbers.ts";
import { operatorProblems, operatorText } from "../text/operator.ts";
import { usageText } from "../text/usage.ts";
import { DisableAccount } from "./disable-account.tsx";
import { EditLimits } from "./edit-limits.tsx";
import { limitNames, type LimitName } from "./limit-texts.ts";
import { changeAccount, managedAccountsQuery } from "./operator-queries.ts";
import "../parts/rows.css";

/** All accounts of the service, with their limits and their use. */
export function ManagedAccounts() {
  const t = useText();
  const list = useInfiniteQuery(managedAccountsQuery);
  const [edited, setEdited] = useState<ManagedAccountJson>();
  const [disabled, setDisabled] = useState<ManagedAccountJson>();
  const { data, error, refetch } = list;
  const accounts = data?.pages.flatMap((page) => page.accounts ?? []) ?? [];
  return (
    <section aria-labelledby="operator-accounts">
      <div className="use-head">
        <h2 id="operator-accounts">{t(operatorText.accounts)}</h2>
      </div>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet operator-loading">{t(commonText.loading)}</p>}
      <ul className="rows" aria-label={t(operatorText.accounts)}>
        {accounts.map((account) => (
          <AccountRow
            key={account.name}
            account={account}
            onEdit={() => setEdited(account)}
            onDisable={() => setDisabled(account)}
          />
        ))}
      </ul>
      {list.hasNextPage && (
        <Button onPress={() => void list.fetchNextPage()} isPending={list.isFetchingNextPage}>
          {t(operatorText.more)}
        </Button>
      )}
      {edited && (
        <EditLimits key={edited.name} account={edited} onClose={() => setEdited(undefined)} />
      )}
      {disabled && <DisableAccount account={disabled} onClose={() => setDisabled(undefined)} />}
    </section>
  );
}

function AccountRow({
  account,
  onEdit,
  onDisable,
}: {
  readonly account: ManagedAccountJson;
  readonly onEdit: () => void;
  readonly onDisable: () => void;
}) {
  const t = useText();
  const session = useSession();
  const queries = useQueryClient();
  const notify = useNotify();
  const name = account.displayName || t(operatorText.unnamed);
  const enable = useMutation({
    mutationFn: () => changeAccount(queries, account, { disabled: false }),
    onSuccess: () =>
      notify(t(operatorText.isEnabled)(name), () =>
        changeAccount(queries, account, { disabled: true }),
      ),
  });
  return (
    <li className="row operator-account">
      <h3 className="title" dir="auto">
        {name} {account.disabled && <Chip text={t(operatorText.disabled)} />}
      </h3>
      <div className="meta">
        <span>{t(operatorText.accountFacts)(account.members ?? 0, account.keys ?? 0)}</span>
        <span className="figures">{account.name}</span>
      </div>
      <dl className="wide operator-use">
        {limitNames.map((limit) => (
          <LimitUse key={limit} account={account} limit={limit} />
        ))}
      </dl>
      <div className="wide operator-actions">
        <Button aria-label={t(operatorText.changeOf)(name)} onPress={onEdit}>
          {t(operatorText.change)}
        </Button>
        {account.disabled ? (
          <Button
            aria-label={t(operatorText.enableOf)(name)}
            isPending={enable.isPending}
            onPress={() => enable.mutate()}
          >
            {t(operatorText.enable)}
          </Button>
        ) : (
          account.name !== session.account.name && (
            <Button look="danger" aria-label={t(operatorText.disableOf)(name)} onPress={onDisable}>
              {t(operatorText.disable)}
            </Button>
          )
        )}
        {enable.error && <ProblemNote error={enable.error} own={operatorProblems} />}
      </div>
    </li>
  );
}

const formats = {
  requestsPerMinute: numberText,
  concurrentStreams: numberText,
  queuedJobs: numberText,
  audioSecondsPerDay: spanText,
  storedBytes: bytesText,
} as const;

/** One limit of an account, and how much of it is used. */
function LimitUse({
  account,
  limit,
}: {
  readonly account: ManagedAccountJson;
  readonly limit: LimitName;
}) {
  const t = useText();
  const { language } = useLanguage();
  const used = Number(account.usage?.[limit] ?? 0);
  const max = Number(account.limits?.[limit] ?? 0);
  const text = (value: number) => formats[limit](language, value);
  return (
    <div>
      <dt>{t(usageText.limitOf[limit])}</dt>
      <dd className={max > 0 && used >= max ? "failed" : undefined}>
        {max === 0 ? t(usageText.noLimit)(text(used)) : t(usageText.ofLimit)(text(used), text(max))}
      </dd>
    </div>
  );
}
