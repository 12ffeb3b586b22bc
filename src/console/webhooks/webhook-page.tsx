import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useParams } from "wouter";
import type { WebhookJson } from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SaidDetail } from "../parts/said-text.tsx";
import { commonText } from "../text/common.ts";
import { when } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { useNow } from "../text/use-now.ts";
import { webhookWords } from "../text/webhook-words.ts";
import { webhookProblems, webhooksText } from "../text/webhooks.ts";
import { Deliveries } from "./deliveries.tsx";
import { WebhookEvents } from "./webhooks-page.tsx";
import { changeWebhook, titleOf, webhookQuery } from "./webhooks-query.ts";
import "../parts/note.css";
import "./webhooks.css";

const EditWebhook = lazy(() =>
  import("./edit-webhook.tsx").then(({ EditWebhook }) => ({ default: EditWebhook })),
);
const RotateSecret = lazy(() =>
  import("./rotate-secret.tsx").then(({ RotateSecret }) => ({ default: RotateSecret })),
);
const RemoveWebhook = lazy(() =>
  import("./remove-webhook.tsx").then(({ RemoveWebhook }) => ({ default: RemoveWebhook })),
);

type OpenDialog = "edit" | "rotate" | "remove";

/** One webhook: what can be done with it, and its deliveries. */
export function WebhookPage() {
  const t = useText();
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery(webhookQuery(id));
  const actions = useActions(id);
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  return (
    <>
      <p className="webhook-back">
        <Link to="/webhooks">{t(webhooksText.all)}</Link>
      </p>
      <PageHead
        title={data ? titleOf(data) : t(commonText.webhooks)}
        {...(data && { sub: <span className="figures">{data.url}</span> })}
      >
        {data && <Actions webhook={data} actions={actions} onOpen={setDialog} />}
      </PageHead>
      {error && !data && (
        <ProblemNote error={error} own={webhookProblems} onRetry={() => void refetch()} />
      )}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {data && <Facts webhook={data} />}
      {actions.error && <ProblemNote error={actions.error} own={webhookProblems} />}
      {data && <Deliveries id={id} isDisabled={data.disabled ?? false} />}
      <Suspense fallback={null}>
        {data && dialog === "edit" && <EditWebhook edited={data} onClose={close} />}
        {data && dialog === "rotate" && <RotateSecret webhook={data} onClose={close} />}
        {data && dialog === "remove" && <RemoveWebhook webhook={data} onClose={close} />}
      </Suspense>
    </>
  );
}

/** The actions without a dialog: sending a test, and turning the webhook off and on. */
function useActions(id: string) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const test = useMutation({
    mutationFn: () => callApi(`/v1/webhooks/${id}:test`, { method: "POST", body: {} }),
    onSuccess: async () => {
      notify(t(webhooksText.testSent));
      await queries.invalidateQueries({ queryKey: ["webhooks", "deliveries", id] });
    },
  });
  const turn = useMutation({
    mutationFn: (disabled: boolean) => changeWebhook(queries, `webhooks/${id}`, { disabled }),
    onSuccess: (_answer, isOff) =>
      notify(t(isOff ? webhooksText.disabledNow : webhooksText.enabledNow), () =>
        changeWebhook(queries, `webhooks/${id}`, { disabled: !isOff }),
      ),
  });
  return { test, turn, error: test.error ?? turn.error };
}

function Actions({
  webhook: { disabled = false },
  actions: { test, turn },
  onOpen,
}: {
  readonly webhook: WebhookJson;
  readonly actions: ReturnType<typeof useActions>;
  readonly onOpen: (dialog: OpenDialog) => void;
}) {
  const t = useText();
  return (
    <>
      <Button
        look="primary"
        isDisabled={disabled}
        isPending={test.isPending}
        onPress={() => test.mutate()}
      >
        {t(webhooksText.test)}
      </Button>
      <Button onPress={() => onOpen("edit")}>{t(webhooksText.edit)}</Button>
      <Button onPress={() => onOpen("rotate")}>{t(webhooksText.rotate)}</Button>
      <Button isPending={turn.isPending} onPress={() => turn.mutate(!disabled)}>
        {t(disabled ? webhooksText.enable : webhooksText.disable)}
      </Button>
      <Button look="danger" onPress={() => onOpen("remove")}>
        {t(webhooksText.remove)}
      </Button>
    </>
  );
}

function Facts({ webhook }: { readonly webhook: WebhookJson }) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const { disabled = false, previousSecretExpireTime: twoUntil } = webhook;
  return (
    <>
      <div className="webhook-facts">
        <WebhookEvents webhook={webhook} />
        {twoUntil !== undefined && (
          <span>{t(webhooksText.twoSecrets)(when(language, new Date(twoUntil), now))}</span>
        )}
      </div>
      {disabled && <DisabledNote webhook={webhook} />}
    </>
  );
}

function DisabledNote({ webhook: { disabledReason } }: { readonly webhook: WebhookJson }) {
  const t = useText();
  const reason = disabledReason === undefined ? undefined : webhookWords(disabledReason);
  return (
    <div className="note problem">
      <p>
        {reason && (
          <strong>
            {t(webhooksText.disabledBecause)(t(reason))}
            <SaidDetail detail={reason.detail} />.{" "}
          </strong>
        )}
        {t(webhooksText.disabledNote)}
      </p>
    </div>
  );
}
