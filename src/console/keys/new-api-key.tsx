import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { CreateApiKeyResponseJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useSession } from "../api/use-session.ts";
import { areAllInFields } from "../api/violations.ts";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { keyProblems, keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { apiKeysQuery } from "./key.ts";
import { newDraft, type KeyRequest } from "./key-draft.ts";
import { KeyFields } from "./key-fields.tsx";
import { NewSecret } from "./new-secret.tsx";

/** Creates an API key and shows its secret once. */
export function NewApiKey({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const session = useSession();
  const [draft, setDraft] = useState(() => newDraft(session.scopes));
  const [isChecked, setIsChecked] = useState(false);
  const make = useMutation({
    mutationFn: (body: KeyRequest) =>
      callApi<CreateApiKeyResponseJson>("/v1/apiKeys", { method: "POST", body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: apiKeysQuery.queryKey }),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    const request = draft.request(new Date());
    if (request && !make.isPending) make.mutate(request);
  };
  const secret = make.data?.secret;
  return (
    <DialogBox
      title={t(secret === undefined ? keysText.newApiKey : keysText.createdTitle)}
      isOpen
      onClose={onClose}
      isLocked={secret !== undefined || make.isPending}
    >
      {secret === undefined ? (
        <form className="dialog-form" onSubmit={submit} noValidate>
          <KeyFields draft={draft} onChange={setDraft} isChecked={isChecked} error={make.error} />
          {make.error && !areAllInFields(make.error, ["displayName", "scopes", "limits"]) && (
            <ProblemNote error={make.error} own={keyProblems} />
          )}
          <FormActions text={t(keysText.create)} isPending={make.isPending} onClose={onClose} />
        </form>
      ) : (
        <NewSecret secret={secret} onClose={onClose} />
      )}
    </DialogBox>
  );
}
