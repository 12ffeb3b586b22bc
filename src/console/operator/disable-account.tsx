import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ManagedAccountJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useAnnounce } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { operatorProblems, operatorText } from "../text/operator.ts";
import { managedAccountsQuery } from "./operator-queries.ts";

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
  const announce = useAnnounce();
  const name = account.displayName || t(operatorText.unnamed);
  const disable = useMutation({
    mutationFn: () =>
      callApi(`/v1/operator/${account.name}`, { method: "PATCH", body: { disabled: true } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: managedAccountsQuery.queryKey });
      announce(t(operatorText.isDisabled)(name));
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
