import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { MemberJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import type { Role } from "../api/session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { accountProblems, accountText } from "../text/account.ts";
import { useText } from "../text/language.tsx";

/** A dialog that asks for confirmation before a member gets another role. */
export function ChangeRole({
  member,
  role,
  onClose,
}: {
  readonly member: MemberJson;
  /** The role that was chosen. */
  readonly role: Role;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const { name = "", email = "", displayName = "" } = member;
  const change = useMutation({
    mutationFn: () => callApi(`/v1/${name}`, { method: "PATCH", body: { role } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["account"] });
      notify(t(accountText.roleChanged), async () => {
        await callApi(`/v1/${name}`, { method: "PATCH", body: { role: member.role } });
        await queries.invalidateQueries({ queryKey: ["account"] });
      });
      onClose();
    },
  });
  return (
    <DialogBox
      title={t(accountText.roleTitle)(displayName || email)}
      isOpen
      onClose={onClose}
      isLocked={change.isPending}
    >
      <p>{t(accountText.roleNext)(t(accountText.roleOf[role]))}</p>
      {change.error && <ProblemNote error={change.error} own={accountProblems} />}
      <DangerActions
        text={t(accountText.roleChange)}
        isPending={change.isPending}
        onConfirm={() => change.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}
