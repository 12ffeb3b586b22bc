import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SessionJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useNow } from "../text/use-now.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { accountText } from "../text/account.ts";
import { commonText } from "../text/common.ts";
import { when } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { sessionsQuery } from "./account-query.ts";
import { browserName } from "./browser-name.ts";

/** The sessions with their browser, address and last use, and a button for ending each session. */
export function Sessions() {
  const t = useText();
  const { data, error, refetch } = useQuery(sessionsQuery);
  return (
    <section aria-labelledby="sessions">
      <div className="account-head">
        <h2 id="sessions">{t(accountText.sessions)}</h2>
      </div>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      <ul className="rows" aria-labelledby="sessions">
        {data?.map((session) => (
          <SessionRow key={session.name} session={session} />
        ))}
      </ul>
    </section>
  );
}

function SessionRow({ session }: { readonly session: SessionJson }) {
  const t = useText();
  const { language } = useLanguage();
  const queries = useQueryClient();
  const announce = useNotify();
  const now = useNow();
  const { name = "", displayName = "", address = "", userAgent = "", lastUseTime = "" } = session;
  const end = useMutation({
    mutationFn: () => callApi(`/v1/${name}`, { method: "DELETE" }),
    onSuccess: async () => {
      announce(t(accountText.ended));
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
      await queries.invalidateQueries({ queryKey: ["account"] });
    },
  });
  return (
    <li className="row account-row">
      <h3 className="title">{displayName}</h3>
      <div className="meta">
        <span>{browserName(userAgent) || t(accountText.unknownBrowser)}</span>
        <span>{t(accountText.from)(address)}</span>
        <span>{t(accountText.lastSeen)(when(language, new Date(lastUseTime), now))}</span>
      </div>
      <div className="side">
        {session.isCurrent ? (
          <span>{t(accountText.current)}</span>
        ) : (
          <Button
            look="quiet"
            aria-label={t(accountText.endOf)(displayName)}
            onPress={() => end.mutate()}
            isPending={end.isPending}
          >
            {t(accountText.end)}
          </Button>
        )}
      </div>
      {end.error && (
        <div className="wide">
          <ProblemNote error={end.error} />
        </div>
      )}
    </li>
  );
}
