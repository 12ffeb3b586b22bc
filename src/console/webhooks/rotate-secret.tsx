import { useMutation, useQueryClient } from "@tanstack/react-query";
import type {
  RotateWebhookSecretResponseJson,
  WebhookJson,
} from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { callApi } from "../api/call-api.ts";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { webhookProblems, webhooksText } from "../text/webhooks.ts";
import { WebhookSecret } from "./webhook-secret.tsx";

/** A dialog that asks before a webhook gets a new secret, and then shows the secret once. */
export function RotateSecret({
  webhook,
  onClose,
}: {
  readonly webhook: WebhookJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const rotate = useMutation({
    mutationFn: () =>
      callApi<RotateWebhookSecretResponseJson>(`/v1/${webhook.name}:rotateSecret`, {
        method: "POST",
        body: {},
      }),
    // The secret must not stay in memory after the dialog has closed.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  const secret = rotate.data?.secret;
  return (
    <DialogBox
      title={t(secret === undefined ? webhooksText.rotateTitle : webhooksText.secretTitle)}
      isOpen
      onClose={onClose}
      isLocked={secret !== undefined || rotate.isPending}
    >
      {secret === undefined ? (
        <>
          <p>{t(webhooksText.rotateNext)}</p>
          {webhook.previousSecretExpireTime !== undefined && (
            <p className="failed">{t(webhooksText.rotateAgain)}</p>
          )}
          {rotate.error && <ProblemNote error={rotate.error} own={webhookProblems} />}
          <DangerActions
            text={t(webhooksText.rotate)}
            isPending={rotate.isPending}
            onConfirm={() => rotate.mutate()}
            onClose={onClose}
          />
        </>
      ) : (
        <WebhookSecret secret={secret} onClose={onClose} />
      )}
    </DialogBox>
  );
}
