import type { InvitationMailJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { when } from "../text/dates.ts";
import { mailProblemText, mailText } from "../text/invitation-mail.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { useNow } from "../text/use-now.ts";

/** What has become of the latest mail to a member, in a few words. */
export function MailState({ mail }: { readonly mail: InvitationMailJson }) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const { state, problem, response, lastAttemptTime = "" } = mail;
  // A later version of the service may have other problems.
  const known = Object.keys(mailProblemText).find(
    (each): each is keyof typeof mailProblemText => each === problem,
  );
  const reason = t(mailProblemText[known ?? "INTERNAL"]);
  if (state === "SENT") {
    const at = when(language, new Date(lastAttemptTime), now);
    return <span data-sign="✓">{t(mailText.sent)(at)}</span>;
  }
  if (state === "CANCELED") return <span data-sign="–">{t(mailText.canceled)}</span>;
  if (state === "FAILED") {
    return (
      <span className="failed" data-sign="✕">
        {t(problem === "OUTCOME_UNKNOWN" ? mailText.unknown : mailText.failed)(reason)}
        {response !== undefined && (
          <>
            {" "}
            <q lang="en" dir="auto">
              {response}
            </q>
          </>
        )}
      </span>
    );
  }
  return <span data-sign="○">{problem ? t(mailText.waits)(reason) : t(mailText.pending)}</span>;
}
