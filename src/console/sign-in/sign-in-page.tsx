import { ApiError } from "../api/api-error.ts";
import type { SignedOut } from "../api/session.ts";
import { Appearance } from "../frame/appearance.tsx";
import { Mark } from "../frame/mark.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useText } from "../text/language.tsx";
import { signInText } from "../text/sign-in.ts";
import { KeyForm } from "./key-form.tsx";
import type { LinkState } from "./link.ts";
import { ProviderLink } from "./provider-link.tsx";
import { SignInProblem } from "./sign-in-problem.tsx";
import "./sign-in-page.css";

const LinkForm = loadLater(() => import("./link-form.tsx").then(({ LinkForm }) => LinkForm));

/**
 * The sign-in page. It is at the address of the page that is shown after signing in. `hasEnded` is
 * whether a session in this tab has ended.
 */
export function SignInPage({
  signInWays: methods,
  contact,
  link,
  hasEnded,
}: SignedOut & {
  readonly link: LinkState;
  readonly hasEnded: boolean;
}) {
  const t = useText();
  const hasProvider = methods.includes("openId");
  const problem = methods.length === 0 ? httpsNeeded : link.problem;
  return (
    <div className="sign-in">
      <header className="sign-in-side">
        <p className="sign-in-mark">
          <Mark /> <span>Hlust</span>
        </p>
        <p className="sign-in-lead">{t(signInText.lead)}</p>
      </header>
      <main className="sign-in-main">
        <PageHead title={t(signInText.title)} />
        {hasEnded && <output className="note">{t(signInText.ended)}</output>}
        {problem !== undefined && <SignInProblem error={problem} onRetry={link.retry} />}
        {hasProvider && (
          <>
            <ProviderLink />
            <p className="sign-in-or">{t(signInText.or)}</p>
          </>
        )}
        {methods.includes("apiKey") && (
          <>
            <KeyForm look={hasProvider ? "plain" : "primary"} linkProblem={link.problem} />
            {methods.includes("mail") && <LinkForm />}
            <div className="sign-in-help">
              <p>{t(signInText.noKey)}</p>
              <CodeSample label={t(signInText.command)} text="bin/hlust console" />
              {!hasProvider && !methods.includes("mail") && <p>{t(signInText.askOwner)}</p>}
            </div>
          </>
        )}
        {contact !== undefined && (
          <p className="sign-in-contact">
            {t(signInText.noAccess)} <a href={hrefOf(contact)}>{contact}</a>
          </p>
        )}
      </main>
      <footer className="sign-in-foot">
        <Appearance />
      </footer>
    </div>
  );
}

function hrefOf(contact: string): string {
  return contact.includes("://") ? contact : `mailto:${contact}`;
}

/** Shown instead of the form, so that the user does not look for a key in vain. */
const httpsNeeded = new ApiError("the page is not secure", { status: 0, reason: "HTTPS_NEEDED" });
