import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { MemberJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { type Role, roles } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { useNow } from "../text/use-now.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { accountText } from "../text/account.ts";
import { commonText } from "../text/common.ts";
import { shortDate, when } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { memberListQuery } from "./account-query.ts";
import { MailState } from "./mail-state.tsx";

const Invite = loadLater(() => import("./invite.tsx").then(({ Invite }) => Invite));
const MemberLink = loadLater(() =>
  import("./member-link.tsx").then(({ MemberLink }) => MemberLink),
);
const RemoveMember = loadLater(() =>
  import("./remove-member.tsx").then(({ RemoveMember }) => RemoveMember),
);
const ChangeRole = loadLater(() =>
  import("./change-role.tsx").then(({ ChangeRole }) => ChangeRole),
);

/** The dialog that is open. */
type Dialog =
  | { readonly kind: "invite" }
  | { readonly kind: "link"; readonly member: MemberJson; readonly mailError?: unknown }
  | { readonly kind: "remove"; readonly member: MemberJson }
  | { readonly kind: "role"; readonly member: MemberJson; readonly role: Role };

/** The members of the account with their roles, and a button for inviting another member. */
export function Members() {
  const t = useText();
  const { data: list, error, refetch } = useQuery(memberListQuery);
  const data = list && (list.members ?? []);
  const sendsMail = list?.sendsMail ?? false;
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <section aria-labelledby="people">
      <div className="account-head">
        <h2 id="people">{t(accountText.people)}</h2>
        <Button onPress={() => setDialog({ kind: "invite" })}>{t(accountText.invite)}</Button>
      </div>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {data?.length === 0 && <p className="account-none">{t(accountText.peopleNone)}</p>}
      {data && data.length > 0 && (
        <ul className="rows" aria-labelledby="people">
          {data.map((member) => (
            <MemberRow
              key={member.name}
              member={member}
              onOpen={(kind) => setDialog({ kind, member })}
              onRole={(role) => setDialog({ kind: "role", member, role })}
            />
          ))}
        </ul>
      )}

      {dialog?.kind === "invite" && (
        <Invite
          sendsMail={sendsMail}
          onClose={close}
          onInvited={(invited) => setDialog({ kind: "link", ...invited })}
        />
      )}
      {dialog?.kind === "link" && <MemberLink {...dialog} sendsMail={sendsMail} onClose={close} />}
      {dialog?.kind === "role" && <ChangeRole {...dialog} onClose={close} />}
      {dialog?.kind === "remove" && <RemoveMember member={dialog.member} onClose={close} />}
    </section>
  );
}

function MemberRow({
  member,
  onOpen,
  onRole,
}: {
  readonly member: MemberJson;
  readonly onOpen: (dialog: "link" | "remove") => void;
  /** Called when another role is chosen, which the user still has to confirm. */
  readonly onRole: (role: Role) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { actor } = useSession();
  const { name = "", email = "", displayName = "", creationTime = "", lastSignInTime } = member;
  const { invitationMail } = member;
  const title = displayName || email;
  const role = roles.find((it) => it === member.role);
  const now = useNow();
  return (
    <li className="row account-row">
      <h3 className="title" dir="auto">
        {title}
      </h3>
      <div className="meta">
        {displayName !== "" && <span>{email}</span>}
        <span>{t(accountText.invited)(shortDate(language, new Date(creationTime), now))}</span>
        <span>
          {lastSignInTime === undefined
            ? t(accountText.neverSignedIn)
            : t(accountText.signedIn)(when(language, new Date(lastSignInTime), now))}
        </span>
        {invitationMail && <MailState mail={invitationMail} />}
        {name === actor && <span>{t(accountText.you)}</span>}
      </div>
      <div className="side">
        <Choice<Role>
          label={t(accountText.roleFor)(title)}
          isLabelSeen={false}
          value={role ?? "VIEWER"}
          options={roles.map((value) => ({ value, text: t(accountText.roleOf[value]) }))}
          onChange={onRole}
        />
        <Button
          look="quiet"
          aria-label={`${t(accountText.link)}: ${title}`}
          onPress={() => onOpen("link")}
        >
          {t(accountText.link)}
        </Button>
        <Button
          look="quiet"
          aria-label={`${t(accountText.remove)}: ${title}`}
          onPress={() => onOpen("remove")}
        >
          {t(accountText.remove)}
        </Button>
      </div>
    </li>
  );
}
