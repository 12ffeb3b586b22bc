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
        <Link to="/usage">{t(commonText.usage)}</Link>
        {session.scopes.includes("account") && (
          <>
            <Link to="/webhooks">{t(commonText.webhooks)}</Link>
            <Link to="/account/settings">{t(commonText.accountSettings)}</Link>
          </>
        )}
        {session.scopes.includes("operator") && (
          <Link to="/operator">{t(commonText.operation)}</Link>
        )}
        <PageKeys />
        <Link to="/help">{t(commonText.help)}</Link>
        <a href="/docs">{t(commonText.apiReference)}</a>
      </div>
    </footer>
  );
}
