import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { WebhookJson } from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { webhookProblems, webhooksText } from "../text/webhooks.ts";
import { titleOf, webhooksQuery } from "./webhooks-query.ts";

/** A dialog that asks before a webhook is deleted, and then opens the list. */
export function RemoveWebhook({
  webhook,
  onClose,
}: {
  readonly webhook: WebhookJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const [, goTo] = useLocation();
  const remove = useMutation({
    mutationFn: () => callApi(`/v1/${webhook.name}`, { method: "DELETE" }),
    onSuccess: async () => {
      notify(t(webhooksText.removed)(titleOf(webhook)), null);
      goTo("/webhooks", { replace: true });
      await queries.invalidateQueries({ queryKey: webhooksQuery.queryKey });
    },
  });
  return (
    <DialogBox
      title={t(webhooksText.removeTitle)(titleOf(webhook))}
      isOpen
      onClose={onClose}
      isLocked={remove.isPending}
    >
      <p>{t(webhooksText.removeNext)}</p>
      {remove.error && <ProblemNote error={remove.error} own={webhookProblems} />}
      <DangerActions
        text={t(webhooksText.remove)}
        isPending={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}
