import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { Session } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { Appearance } from "./appearance.tsx";
import { PageKeys } from "./page-keys.tsx";
import { Mark } from "./mark.tsx";
import { mayOpen } from "./page-scopes.ts";
import "./foot.css";

/**
 * The account menu, language and theme. It is below the navigation; on a phone it is above the
 * page, folded until the user opens it.
 */
export function Foot({ session }: { readonly session: Session }) {
  const t = useText();
  const [here] = useLocation();
  const [openAt, setOpenAt] = useState<string>();
  const isOpen = openAt === here;
  const { displayName } = session.account;
  return (
    <footer className="foot">
      <Button
        look="quiet"
        className="foot-opener"
        aria-expanded={isOpen}
        aria-controls="foot-more"
        onPress={() => setOpenAt(isOpen ? undefined : here)}
      >
        <Mark />
        <span className="foot-name">{displayName}</span>
        <span className="unseen">{t(commonText.accountAndLooks)}</span>
      </Button>
      <div id="foot-more" className="foot-more" data-open={isOpen}>
        <AccountMenu session={session} />
        <Appearance />
        <FootLink to="/usage" text={t(commonText.usage)} />
        {[
          { to: "/webhooks", text: commonText.webhooks },
          { to: "/account/settings", text: commonText.accountSettings },
          { to: "/operator", text: commonText.operation },
        ].map(
          ({ to, text }) =>
            mayOpen(to, session.scopes) && <FootLink key={to} to={to} text={t(text)} />,
        )}
        <PageKeys />
        <FootLink to="/help" text={t(commonText.help)} />
        <a href="/docs">{t(commonText.apiReference)}</a>
      </div>
    </footer>
  );
}

function FootLink({ to, text }: { readonly to: string; readonly text: string }) {
  const [here] = useLocation();
  return (
    <Link to={to} aria-current={here === to ? "page" : undefined}>
      {text}
    </Link>
  );
}
