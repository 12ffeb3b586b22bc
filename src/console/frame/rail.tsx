import { Link, useLocation } from "wouter";
import { useSession } from "../api/use-session.ts";
import { commonText } from "../text/common.ts";
import { type Phrase, useText } from "../text/language.tsx";
import { Mark } from "./mark.tsx";
import { mayOpen } from "./page-scopes.ts";
import "./rail.css";

const places: readonly Place[] = [
  { to: "/", text: commonText.overview },
  { to: "/transcripts", text: commonText.transcripts },
  { to: "/jobs", text: commonText.jobs },
  { to: "/live", text: commonText.live },
  { to: "/vocabulary", text: commonText.vocabulary },
  { to: "/keys", text: commonText.keys },
];

/** An entry of the menu. */
interface Place {
  readonly to: string;
  readonly text: Phrase<string>;
}

/** The navigation; on a phone, a bar at the bottom. */
export function Rail() {
  const t = useText();
  const [here] = useLocation();
  const { scopes } = useSession();
  const shown = places.filter(({ to }) => mayOpen(to, scopes));
  return (
    <header className="rail">
      <Link to="/" className="rail-mark">
        <Mark /> <span>Hlust</span>
      </Link>
      <nav aria-label={t(commonText.mainMenu)}>
        {shown.map(({ to, text }) => (
          <Link key={to} to={to} aria-current={isAt(here, to) ? "page" : undefined}>
            {t(text)}
          </Link>
        ))}
      </nav>
    </header>
  );
}

function isAt(here: string, to: string): boolean {
  return to === "/" ? here === "/" : here === to || here.startsWith(`${to}/`);
}
