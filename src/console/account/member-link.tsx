import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { MemberJson, SignInLinkJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useSession } from "../api/use-session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { accountProblems, accountText } from "../text/account.ts";
import { commonText } from "../text/common.ts";
import { mailText, sendProblems } from "../text/invitation-mail.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { sendInvitation } from "./send-invitation.ts";

/** A dialog with a link that signs a member in, which is shown once or sent by mail. */
export function MemberLink({
  member,
  sendsMail,
  mailError,
  onClose,
}: {
  readonly member: MemberJson;
  readonly sendsMail: boolean;
  /** Why the mail was not sent that was to be sent before. */
  readonly mailError?: unknown;
  readonly onClose: () => void;
}) {
  const { name = "", email = "", displayName = "", invitationMail } = member;
  const t = useText();
  const hasProvider = useSession().signInWays.includes("openId");
  const { language } = useLanguage();
  const notify = useNotify();
  const queries = useQueryClient();
  const [uri, setUri] = useState<string>();
  const make = useMutation({
    mutationFn: () =>
      callApi<SignInLinkJson>(`/v1/${name}:createSignInLink`, { method: "POST", body: {} }),
    onSuccess: async (link) => {
      setUri(link.uri);
      await queries.invalidateQueries({ queryKey: ["account", "audit"] });
    },
  });
  const send = useMutation({
    mutationFn: () => sendInvitation(member, language),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["account"] });
      notify(t(mailText.onItsWay));
      onClose();
    },
  });
  const problem = make.error ?? send.error ?? (send.isIdle ? mailError : undefined);
  const canSend = sendsMail && uri === undefined;
  const linkOrMail = hasProvider ? mailText.linkOrPage : mailText.linkOrMail;
  const title = t(accountText.linkOf)(displayName || email);
  return (
    <DialogBox title={title} isOpen isLocked={uri !== undefined} onClose={onClose}>
      <p>{t(canSend ? linkOrMail : accountText.linkNext)}</p>
      {uri !== undefined && <CodeSample label={title} text={uri} />}
      {problem !== undefined && (
        <ProblemNote error={problem} own={{ ...accountProblems, ...sendProblems }} />
      )}
      <div className="dialog-actions">
        <Button onPress={onClose}>
          {t(uri === undefined ? commonText.cancel : commonText.close)}
        </Button>
        {uri === undefined && (
          <Button
            {...(canSend ? {} : { look: "primary" })}
            isPending={make.isPending}
            onPress={() => make.mutate()}
          >
            {t(accountText.makeLink)}
          </Button>
        )}
        {canSend && (
          <Button look="primary" isPending={send.isPending} onPress={() => send.mutate()}>
            {t(invitationMail ? mailText.sendAgain : mailText.send)}
          </Button>
        )}
      </div>
    </DialogBox>
  );
}
