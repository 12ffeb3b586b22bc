import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { WebhookDeliveryJson } from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SaidText } from "../parts/said-text.tsx";
import { commonText } from "../text/common.ts";
import { clockTime, shortDate, when } from "../text/dates.ts";
import { type Phrase, useLanguage, useText } from "../text/language.tsx";
import { useNow } from "../text/use-now.ts";
import { capital } from "../text/listed.ts";
import { webhookWords } from "../text/webhook-words.ts";
import { webhookProblems, webhooksText } from "../text/webhooks.ts";
import { deliveriesQuery } from "./webhooks-query.ts";
import "../parts/rows.css";

/** The deliveries of a webhook, newest first; a button loads older ones. */
export function Deliveries({
  id,
  isDisabled,
}: {
  readonly id: string;
  readonly isDisabled: boolean;
}) {
  const t = useText();
  const list = useInfiniteQuery(deliveriesQuery(id));
  const { data, error, hasNextPage, isFetchingNextPage } = list;
  const deliveries = data?.pages.flatMap((page) => page.deliveries ?? []) ?? [];
  return (
    <section aria-labelledby="deliveries">
      <div className="webhook-deliveries-head">
        <h2 id="deliveries">{t(webhooksText.deliveries)}</h2>
        <p className="quiet">{t(webhooksText.deliveriesNext)}</p>
      </div>
      {error && <ProblemNote error={error} onRetry={() => void list.refetch()} />}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {data && deliveries.length === 0 && (
        <p className="webhook-none">{t(webhooksText.deliveriesNone)}</p>
      )}
      {deliveries.length > 0 && (
        <ul className="rows" aria-labelledby="deliveries">
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.name} id={id} delivery={delivery} mayResend={!isDisabled} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button isPending={isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
          {t(webhooksText.more)}
        </Button>
      )}
    </section>
  );
}

function DeliveryRow({
  id,
  delivery,
  mayResend,
}: {
  readonly id: string;
  readonly delivery: WebhookDeliveryJson;
  readonly mayResend: boolean;
}) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const queries = useQueryClient();
  const notify = useNotify();
  const resend = useMutation({
    mutationFn: () => callApi(`/v1/${delivery.name}:redeliver`, { method: "POST", body: {} }),
    onSuccess: async () => {
      notify(t(webhooksText.redelivered));
      await queries.invalidateQueries({ queryKey: ["webhooks", "deliveries", id] });
    },
  });
  const { state = "PENDING", eventType = "", creationTime = "", attempts = 0 } = delivery;
  const { lastAttemptTime, nextAttemptTime } = delivery;
  const what = t(eventText(eventType));
  const at = new Date(creationTime);
  return (
    <li className="row delivery-row">
      <h3 className="title">
        {capital(what)}
        {" · "}
        <span className={state === "FAILED" ? "failed" : undefined} data-sign={signOf(state)}>
          {t(stateText(state))}
        </span>
      </h3>
      <div className="meta">
        <LastAnswer delivery={delivery} />
        {delivery.job !== undefined && <span className="figures">{delivery.job}</span>}
        {attempts > 0 && <span>{t(webhooksText.attempts)(attempts)}</span>}
        {lastAttemptTime !== undefined && (
          <span>{t(webhooksText.lastAttempt)(when(language, new Date(lastAttemptTime), now))}</span>
        )}
        {nextAttemptTime !== undefined && attempts > 0 && (
          <span>{t(webhooksText.nextAttempt)(when(language, new Date(nextAttemptTime), now))}</span>
        )}
      </div>
      <div className="side">
        <time dateTime={creationTime}>{when(language, at, now)}</time>
        <Button
          look="quiet"
          aria-label={t(webhooksText.redeliverOf)(
            `${what}, ${shortDate(language, at, now)} ${clockTime(at)}`,
          )}
          isDisabled={!mayResend}
          isPending={resend.isPending}
          onPress={() => resend.mutate()}
        >
          {t(webhooksText.redeliver)}
        </Button>
      </div>
      {resend.error && (
        <div className="wide">
          <ProblemNote error={resend.error} own={webhookProblems} />
        </div>
      )}
    </li>
  );
}

/** The receiver's last answer, or else why there was none. */
function LastAnswer({
  delivery: { lastHttpStatus, lastProblem },
}: {
  readonly delivery: WebhookDeliveryJson;
}) {
  const t = useText();
  if (lastProblem !== undefined)
    return (
      <span className="failed">
        <SaidText said={webhookWords(lastProblem)} />
      </span>
    );
  if (lastHttpStatus === undefined) return null;
  return <span>{t(webhooksText.answered)(lastHttpStatus)}</span>;
}

/** Returns the text of an event; that of a newer service is shown by its name. */
function eventText(type: string): Phrase<string> {
  const { eventOf } = webhooksText;
  return isKnown(eventOf, type) ? eventOf[type] : { is: type, en: type };
}

function stateText(state: string): Phrase<string> {
  const { stateOf } = webhooksText;
  return isKnown(stateOf, state) ? stateOf[state] : { is: state, en: state };
}

/** Returns the sign of a state; that of a newer service has none. */
function signOf(state: string): string | undefined {
  const signs = { PENDING: "○", DELIVERED: "✓", FAILED: "✕" };
  return isKnown(signs, state) ? signs[state] : undefined;
}

function isKnown<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}
