import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { MemberJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { accountProblems, accountText } from "../text/account.ts";
import { useText } from "../text/language.tsx";

/** A dialog that asks for confirmation before a member is removed from the account. */
export function RemoveMember({
  member,
  onClose,
}: {
  readonly member: MemberJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const { name = "", email = "", displayName = "", role, lastSignInTime } = member;
  const remove = useMutation({
    mutationFn: () => callApi(`/v1/${name}`, { method: "DELETE" }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["account"] });
      const inviteAgain = async () => {
        await callApi("/v1/members", { method: "POST", body: { email, displayName, role } });
        await queries.invalidateQueries({ queryKey: ["account"] });
      };
      // The sessions, drafts and settings of a member who has signed in are gone.
      const undo = lastSignInTime === undefined ? inviteAgain : null;
      notify(t(accountText.removed)(displayName || email), undo);
      onClose();
    },
  });
  return (
    <DialogBox
      title={t(accountText.removeTitle)(displayName || email)}
      isOpen
      onClose={onClose}
      isLocked={remove.isPending}
    >
      <p>{t(accountText.removeNext)}</p>
      {remove.error && <ProblemNote error={remove.error} own={accountProblems} />}
      <DangerActions
        text={t(accountText.remove)}
        isPending={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}
