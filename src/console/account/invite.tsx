import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { MemberJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { type Role, roles } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { areAllInFields, violationIn } from "../api/violations.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { accountProblems, accountText } from "../text/account.ts";
import { commonText } from "../text/common.ts";
import { type Phrase, useText } from "../text/language.tsx";

/** A dialog that invites a member by email address. */
export function Invite({
  onClose,
  onInvited,
}: {
  readonly onClose: () => void;
  /** Called instead of `onClose` if the member needs a link to sign in. */
  readonly onInvited: (member: MemberJson) => void;
}) {
  const t = useText();
  const hasProvider = useSession().signInWays.includes("openId");
  const queries = useQueryClient();
  const notify = useNotify();
  const [email, setEmail] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [role, setRole] = useState<Role>("MEMBER");
  const [isChecked, setIsChecked] = useState(false);
  const invite = useMutation({
    mutationFn: () =>
      callApi<MemberJson>("/v1/members", {
        method: "POST",
        body: { email: email.trim(), displayName: displayName.trim(), role },
      }),
    onSuccess: async (member) => {
      await queries.invalidateQueries({ queryKey: ["account"] });
      notify(t(accountText.isInvited)(member.email ?? ""));
      if (hasProvider) onClose();
      else onInvited(member);
    },
  });
  const isMissing = isChecked && email.trim() === "";
  const wrongIn = (field: string, text: Phrase<string>): string | undefined =>
    violationIn(invite.error, field) && t(text);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (email.trim() !== "" && !invite.isPending) invite.mutate();
  };
  return (
    <DialogBox title={t(accountText.invite)} isOpen onClose={onClose}>
      <form className="account-form" onSubmit={submit} noValidate>
        <p>{t(hasProvider ? accountText.inviteNext : accountText.inviteByLink)}</p>
        <TextInput
          label={t(accountText.email)}
          type="email"
          autoComplete="off"
          value={email}
          onChange={setEmail}
          problem={
            isMissing ? t(accountText.emailMissing) : wrongIn("email", accountText.emailWrong)
          }
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
          autoFocus
        />
        <TextInput
          label={t(accountText.name)}
          value={displayName}
          onChange={setDisplayName}
          problem={wrongIn("displayName", accountText.nameWrong)}
        />
        <Choice<Role>
          label={t(accountText.role)}
          value={role}
          options={roles.map((value) => ({ value, text: t(accountText.roleOf[value]) }))}
          onChange={setRole}
        />
        {invite.error && !areAllInFields(invite.error, ["email", "displayName"]) && (
          <ProblemNote error={invite.error} own={accountProblems} />
        )}
        <div className="dialog-actions">
          <Button onPress={onClose}>{t(commonText.cancel)}</Button>
          <Button type="submit" look="primary" isPending={invite.isPending}>
            {t(accountText.invite)}
          </Button>
        </div>
      </form>
    </DialogBox>
  );
}
