import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useRef, useState } from "react";
import { type ClientKeyPair, makeKeyPair } from "../../client/key-pair.ts";
import type { ClientKeyJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useSession } from "../api/use-session.ts";
import { areAllInFields } from "../api/violations.ts";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { keyProblems, keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { ClientKeyMade } from "./client-key-made.tsx";
import { clientKeysQuery } from "./key.ts";
import { newDraft, type KeyRequest } from "./key-draft.ts";
import { KeyFields } from "./key-fields.tsx";
import { publicKeyProblem } from "./public-key-problem.ts";
import { PublicKeyField } from "./public-key-field.tsx";

const sources = ["here", "own"] as const;
type Source = (typeof sources)[number];

/**
 * Registers a client key. The key is either a pair generated in the browser, which never sends the
 * private key, or a public key that the user already has.
 */
export function NewClientKey({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const session = useSession();
  const [draft, setDraft] = useState(() => newDraft(session.scopes));
  const [source, setSource] = useState<Source>("here");
  const [own, setOwn] = useState("");
  const [isChecked, setIsChecked] = useState(false);
  const register = useRegistration(source, own);
  const ownProblem = source === "own" ? publicKeyProblem(own) : undefined;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    const request = draft.request(new Date());
    if (request && !ownProblem && !register.isPending) register.mutate(request);
  };
  const { data, error, isPending } = register;
  const fields = ["displayName", "scopes", "limits", ...(source === "own" ? ["publicKey"] : [])];
  return (
    <DialogBox
      title={t(
        data
          ? data.privatePem
            ? keysText.createdTitle
            : keysText.registered
          : keysText.newClientKey,
      )}
      isOpen
      onClose={onClose}
      isLocked={data?.privatePem !== undefined || isPending}
    >
      {data ? (
        <ClientKeyMade clientKey={data.key} privatePem={data.privatePem} onClose={onClose} />
      ) : (
        <form className="dialog-form" onSubmit={submit} noValidate>
          <SourceChoice source={source} onChange={setSource} />
          {source === "own" && (
            <PublicKeyField
              value={own}
              onChange={setOwn}
              problem={
                (isChecked || own !== "") && ownProblem
                  ? t(ownProblem)
                  : violationOf(error, "publicKey")
              }
            />
          )}
          <KeyFields draft={draft} onChange={setDraft} isChecked={isChecked} error={error} />
          {error && !areAllInFields(error, fields) && (
            <ProblemNote error={error} own={keyProblems} />
          )}
          <FormActions
            text={t(source === "here" ? keysText.create : keysText.register)}
            isPending={isPending}
            onClose={onClose}
          />
        </form>
      )}
    </DialogBox>
  );
}

/** Registers a generated public key, or a public key that the user already has. */
function useRegistration(source: Source, own: string) {
  const queries = useQueryClient();
  // The pair is stored, so that another attempt after a lost response registers the same pair.
  const pair = useRef<ClientKeyPair>(undefined);
  return useMutation({
    mutationFn: async (request: KeyRequest) => {
      if (source === "here") pair.current ??= await makeKeyPair();
      const publicKey = source === "here" ? pair.current?.publicKey : own.trim();
      const body = { ...request, publicKey };
      const key = await callApi<ClientKeyJson>("/v1/clientKeys", { method: "POST", body });
      return { key, privatePem: source === "here" ? pair.current?.takePem() : undefined };
    },
    // The private key must not stay in memory after the dialog has closed.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: clientKeysQuery.queryKey }),
  });
}

function SourceChoice({
  source,
  onChange,
}: {
  readonly source: Source;
  readonly onChange: (source: Source) => void;
}) {
  const t = useText();
  return (
    <fieldset className="key-scopes">
      <legend>{t(keysText.source)}</legend>
      {sources.map((value) => (
        <label key={value}>
          <input
            type="radio"
            name="source"
            checked={source === value}
            onChange={() => onChange(value)}
          />
          <span>{t(keysText.sourceOf[value])}</span>
        </label>
      ))}
    </fieldset>
  );
}
