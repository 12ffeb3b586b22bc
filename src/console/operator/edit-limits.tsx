import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { ManagedAccountJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { operatorProblems, operatorText } from "../text/operator.ts";
import { isLimit, limitNames, limitsOf, textsOf } from "./limit-texts.ts";
import { changeAccount } from "./operator-queries.ts";

/** A dialog that changes the limits of an account. */
export function EditLimits({
  account,
  onClose,
}: {
  readonly account: ManagedAccountJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const [limits, setLimits] = useState(() => textsOf(account.ownLimits));
  const [isChecked, setIsChecked] = useState(false);
  const name = account.displayName || t(operatorText.unnamed);
  const save = useMutation({
    mutationFn: () => changeAccount(queries, account, { ownLimits: limitsOf(limits) }),
    onSuccess: () => {
      const { ownLimits = {} } = account;
      notify(t(operatorText.limitsSaved)(name), () =>
        changeAccount(queries, account, { ownLimits }),
      );
      onClose();
    },
  });
  const areGood = limitNames.every((limit) => isLimit(limit, limits[limit]));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (areGood && !save.isPending) save.mutate();
  };
  return (
    <DialogBox
      title={t(operatorText.changeOf)(name)}
      isOpen
      onClose={onClose}
      isLocked={save.isPending}
    >
      <form className="operator-form" onSubmit={submit} noValidate>
        <p className="quiet">{t(operatorText.limitsHint)}</p>
        {limitNames.map((limit, at) => (
          <TextInput
            key={limit}
            label={t(operatorText.limitOf[limit])}
            inputMode="numeric"
            autoComplete="off"
            value={limits[limit]}
            problem={
              isChecked && !isLimit(limit, limits[limit])
                ? t(operatorText.limitWrong)
                : violationOf(save.error, `ownLimits.${limit}`)
            }
            onChange={(text) => setLimits({ ...limits, [limit]: text })}
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
            autoFocus={at === 0}
          />
        ))}
        {save.error && <ProblemNote error={save.error} own={operatorProblems} />}
        <FormActions text={t(commonText.save)} isPending={save.isPending} onClose={onClose} />
      </form>
    </DialogBox>
  );
}
