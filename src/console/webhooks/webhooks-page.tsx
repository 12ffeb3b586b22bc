import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import type { WebhookJson } from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { useSession } from "../api/use-session.ts";
import { Button } from "../parts/button.tsx";
import { Chip } from "../parts/chip.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { shortDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { useNow } from "../text/use-now.ts";
import { webhooksText } from "../text/webhooks.ts";
import { eventTypes, idOf, titleOf, webhooksQuery } from "./webhooks-query.ts";
import "../parts/rows.css";
import "./webhooks.css";

const EditWebhook = lazy(() =>
  import("./edit-webhook.tsx").then(({ EditWebhook }) => ({ default: EditWebhook })),
);

/** The webhooks of the account, for users who may manage them. */
export function WebhooksPage() {
  const t = useText();
  const { account, scopes } = useSession();
  if (scopes.includes("account")) return <Webhooks key={account.name} />;
  return (
    <>
      <PageHead title={t(commonText.webhooks)} />
      <Empty title={t(webhooksText.notAllowed)}>
        <p>{t(webhooksText.notAllowedNext)}</p>
      </Empty>
    </>
  );
}

function Webhooks() {
  const t = useText();
  const { data, error, refetch } = useQuery(webhooksQuery);
  const [isAdding, setIsAdding] = useState(false);
  return (
    <>
      <PageHead title={t(commonText.webhooks)} sub={t(webhooksText.sub)}>
        <Button look="primary" onPress={() => setIsAdding(true)}>
          {t(webhooksText.add)}
        </Button>
      </PageHead>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {data?.length === 0 && (
        <Empty title={t(webhooksText.none)}>
          <p>{t(webhooksText.noneNext)}</p>
        </Empty>
      )}
      {data && data.length > 0 && (
        <ul className="rows" aria-label={t(commonText.webhooks)}>
          {data.map((webhook) => (
            <WebhookRow key={webhook.name} webhook={webhook} />
          ))}
        </ul>
      )}
      <Suspense fallback={null}>
        {isAdding && <EditWebhook onClose={() => setIsAdding(false)} />}
      </Suspense>
    </>
  );
}

function WebhookRow({ webhook }: { readonly webhook: WebhookJson }) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const { url, disabled = false, creationTime = "" } = webhook;
  return (
    <li className="row webhook-row">
      <h2 className="title" dir="auto">
        <Link to={`/webhooks/${idOf(webhook)}`}>{titleOf(webhook)}</Link>
      </h2>
      <div className="meta">
        <WebhookEvents webhook={webhook} />
        <span className="figures">{url}</span>
      </div>
      <div className="side">
        <div className={disabled ? "failed" : undefined} data-sign={disabled ? "–" : "✓"}>
          {t(disabled ? webhooksText.off : webhooksText.on)}
        </div>
        <div>{t(webhooksText.created)(shortDate(language, new Date(creationTime), now))}</div>
      </div>
    </li>
  );
}

/** The events that a webhook is notified of. */
export function WebhookEvents({ webhook }: { readonly webhook: WebhookJson }) {
  const t = useText();
  const chosen = eventTypes.filter((type) => webhook.eventTypes?.includes(type));
  if (chosen.length === 0) return <Chip text={t(webhooksText.allEvents)} />;
  return chosen.map((type) => <Chip key={type} text={t(webhooksText.eventOf[type])} />);
}
