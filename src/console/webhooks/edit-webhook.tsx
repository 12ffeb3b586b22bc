import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type {
  CreateWebhookResponseJson,
  WebhookJson,
} from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { callApi } from "../api/call-api.ts";
import { areAllInFields } from "../api/violations.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { webhookProblems, webhooksText } from "../text/webhooks.ts";
import { draftOf, isComplete, requestOf, shownFields, WebhookFields } from "./webhook-fields.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";
import { changeWebhook, titleOf } from "./webhooks-query.ts";
import "./webhooks.css";

/** A dialog that creates a webhook, whose secret it shows once, or changes one. */
export function EditWebhook({
  edited,
  onClose,
}: {
  readonly edited?: WebhookJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const [draft, setDraft] = useState(() => draftOf(edited));
  // The webhook is read again as soon as it is changed.
  const [before] = useState(() => requestOf(draft));
  const [isChecked, setIsChecked] = useState(false);
  const save = useMutation({
    mutationFn: async () => {
      const body = requestOf(draft);
      if (edited) {
        await changeWebhook(queries, edited.name, body);
        return undefined;
      }
      const made = await callApi<CreateWebhookResponseJson>("/v1/webhooks", {
        method: "POST",
        body,
      });
      return made.secret;
    },
    // The secret must not stay in memory after the dialog has closed.
    gcTime: 0,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["webhooks"] });
      const undo = edited && (() => changeWebhook(queries, edited.name, before));
      notify(t(webhooksText.saved)(titleOf(requestOf(draft))), undo);
      if (edited) onClose();
    },
  });
  const secret = save.data;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (isComplete(draft) && !save.isPending) save.mutate();
  };
  if (secret !== undefined) {
    return (
      <DialogBox title={t(webhooksText.secretTitle)} isOpen onClose={onClose} isLocked>
        <WebhookSecret secret={secret} onClose={onClose} />
      </DialogBox>
    );
  }
  return (
    <DialogBox
      title={t(edited ? webhooksText.editTitle : webhooksText.add)}
      isOpen
      onClose={onClose}
      isLocked={save.isPending}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        <WebhookFields draft={draft} onChange={setDraft} isChecked={isChecked} error={save.error} />
        {save.error && !areAllInFields(save.error, shownFields) && (
          <ProblemNote error={save.error} own={webhookProblems} />
        )}
        <FormActions
          text={t(edited ? commonText.save : webhooksText.create)}
          isPending={save.isPending}
          onClose={onClose}
        />
      </form>
    </DialogBox>
  );
}
