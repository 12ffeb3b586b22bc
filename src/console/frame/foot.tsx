import type { Session } from "../api/session.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { Looks } from "./looks.tsx";
import "./foot.css";

/** Who one is, in which account, and how the console looks: below the menu, or on a phone below the page. */
export function Foot({ session }: { readonly session: Session }) {
  const t = useText();
  return (
    <footer className="foot">
      <AccountMenu session={session} />
      <Looks />
      <a href="/docs">{t(commonText.apiReference)}</a>
    </footer>
  );
}
