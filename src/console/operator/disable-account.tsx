import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ManagedAccountJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { operatorProblems, operatorText } from "../text/operator.ts";
import { changeAccount } from "./operator-queries.ts";

/** A dialog that asks before an account is disabled. */
export function DisableAccount({
  account,
  onClose,
}: {
  readonly account: ManagedAccountJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const name = account.displayName || t(operatorText.unnamed);
  const disable = useMutation({
    mutationFn: () => changeAccount(queries, account, { disabled: true }),
    onSuccess: () => {
      notify(t(operatorText.isDisabled)(name), () =>
        changeAccount(queries, account, { disabled: false }),
      );
      onClose();
    },
  });
  return (
    <DialogBox
      title={t(operatorText.disableTitle)(name)}
      isOpen
      onClose={onClose}
      isLocked={disable.isPending}
    >
      <p>{t(operatorText.disableNext)}</p>
      {disable.error && <ProblemNote error={disable.error} own={operatorProblems} />}
      <DangerActions
        text={t(operatorText.disable)}
        isPending={disable.isPending}
        onConfirm={() => disable.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}
