import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { MemberJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { type Role, roles } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { areAllInFields, violationIn } from "../api/violations.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Choice } from "../parts/choice.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { accountProblems, accountText } from "../text/account.ts";
import { mailText } from "../text/invitation-mail.ts";
import { type Phrase, useLanguage, useText } from "../text/language.tsx";
import { sendInvitation } from "./send-invitation.ts";

interface InviteProps {
  /** Whether the service sends the invitation. */
  readonly sendsMail: boolean;
  readonly onClose: () => void;
  /**
   * Called instead of `onClose` if the member needs a link to sign in: the service sends no mail,
   * or `mailError` is why it does not send this one.
   */
  readonly onInvited: (invited: {
    readonly member: MemberJson;
    readonly mailError?: unknown;
  }) => void;
}

/** A dialog that invites a member by email address. */
export function Invite({ sendsMail, onClose, onInvited }: InviteProps) {
  const t = useText();
  const hasProvider = useSession().signInWays.includes("openId");
  const [email, setEmail] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [role, setRole] = useState<Role>("MEMBER");
  const [isChecked, setIsChecked] = useState(false);
  const invite = useInvite({ sendsMail, hasProvider, onClose, onInvited });
  const byMail = hasProvider ? mailText.inviteToProvider : mailText.inviteByMail;
  const byHand = hasProvider ? accountText.inviteNext : accountText.inviteByLink;
  const isMissing = isChecked && email.trim() === "";
  const wrongIn = (field: string, text: Phrase<string>): string | undefined =>
    violationIn(invite.error, field) && t(text);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (email.trim() !== "" && !invite.isPending)
      invite.mutate({ email: email.trim(), displayName: displayName.trim(), role });
  };
  return (
    <DialogBox title={t(accountText.invite)} isOpen onClose={onClose} isLocked={invite.isPending}>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <p>{t(sendsMail ? byMail : byHand)}</p>
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
        <FormActions text={t(accountText.invite)} isPending={invite.isPending} onClose={onClose} />
      </form>
    </DialogBox>
  );
}

/** Invites a member, and sends the invitation if the service sends mail. */
function useInvite({
  sendsMail,
  hasProvider,
  onClose,
  onInvited,
}: InviteProps & { readonly hasProvider: boolean }) {
  const t = useText();
  const { language } = useLanguage();
  const notify = useNotify();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: { email: string; displayName: string; role: Role }) => {
      const member = await callApi<MemberJson>("/v1/members", { method: "POST", body });
      if (!sendsMail) return { member };
      // The member is invited now, even if the mail cannot be sent.
      try {
        await sendInvitation(member, language);
      } catch (mailError) {
        return { member, mailError };
      }
      return { member, isMailed: true };
    },
    onSuccess: async ({ isMailed = false, ...invited }) => {
      await queries.invalidateQueries({ queryKey: ["account"] });
      const { email = "" } = invited.member;
      notify(isMailed ? t(mailText.onItsWay) : t(accountText.isInvited)(email));
      if (isMailed || (hasProvider && !sendsMail)) onClose();
      else onInvited(invited);
    },
  });
}
