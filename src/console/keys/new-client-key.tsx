import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useRef, useState } from "react";
import { type ClientKeyPair, makeKeyPair } from "../../client/key-pair.ts";
import type { ClientKeyJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useSession } from "../api/use-session.ts";
import { isOfFields, violationOf } from "../api/violations.ts";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { keyProblems, keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { ClientKeyMade } from "./client-key-made.tsx";
import { clientKeysQuery } from "./key.ts";
import { newDraft, type KeyRequest } from "./key-draft.ts";
import { KeyFields } from "./key-fields.tsx";
import { publicKeyProblem } from "./public-key-problem.ts";
import { PublicKeyField } from "./public-key-field.tsx";
import "./key-form.css";

const wheres = ["here", "own"] as const;

/**
 * Registers a client key: a pair made here, whose private half is the user's alone, or a public key
 * of theirs.
 */
export function NewClientKey({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const session = useSession();
  const [draft, setDraft] = useState(() => newDraft(session.scopes));
  const [where, setWhere] = useState<(typeof wheres)[number]>("here");
  const [own, setOwn] = useState("");
  const [isChecked, setIsChecked] = useState(false);
  // The same pair again where the call before was not answered.
  const pair = useRef<ClientKeyPair>(undefined);
  const register = useMutation({
    mutationFn: async (request: KeyRequest) => {
      if (where === "here") pair.current ??= await makeKeyPair();
      const publicKey = where === "here" ? pair.current?.publicKey : own.trim();
      const body = { ...request, publicKey };
      const key = await callApi<ClientKeyJson>("/v1/clientKeys", { method: "POST", body });
      return { key, privatePem: where === "here" ? pair.current?.takePem() : undefined };
    },
    // What makes and signs must not stay anywhere once the dialog is gone.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: clientKeysQuery.queryKey }),
  });
  const ownProblem = where === "own" ? publicKeyProblem(own) : undefined;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    const request = draft.request(new Date());
    if (request && !ownProblem && !register.isPending) register.mutate(request);
  };
  const { data, error, isPending } = register;
  const fields = ["displayName", "scopes", ...(where === "own" ? ["publicKey"] : [])];
  return (
    <DialogBox
      title={t(
        data ? (data.privatePem ? keysText.madeTitle : keysText.registered) : keysText.newClientKey,
      )}
      isOpen
      onClose={onClose}
      isLocked={data?.privatePem !== undefined || isPending}
    >
      {data ? (
        <ClientKeyMade clientKey={data.key} privatePem={data.privatePem} onClose={onClose} />
      ) : (
        <form className="key-form" onSubmit={submit} noValidate>
          <fieldset className="key-scopes">
            <legend>{t(keysText.where)}</legend>
            {wheres.map((value) => (
              <label key={value}>
                <input
                  type="radio"
                  name="where"
                  checked={where === value}
                  onChange={() => setWhere(value)}
                />
                <span>{t(keysText.whereOf[value])}</span>
              </label>
            ))}
          </fieldset>
          {where === "own" && (
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
          {error && !isOfFields(error, fields) && <ProblemNote error={error} own={keyProblems} />}
          <div className="dialog-actions">
            <Button onPress={onClose}>{t(commonText.cancel)}</Button>
            <Button type="submit" look="primary" isPending={isPending}>
              {t(where === "here" ? keysText.create : keysText.register)}
            </Button>
          </div>
        </form>
      )}
    </DialogBox>
  );
}
