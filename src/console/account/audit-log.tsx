import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import type {
  AuditEventJson,
  ListAuditEventsResponseJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { useState } from "react";
import { Link } from "wouter";
import { AuditLogFilter } from "./audit-filter.tsx";
import { useNow } from "../text/use-now.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { accountText } from "../text/account.ts";
import { actText } from "../text/acts.ts";
import { commonText } from "../text/common.ts";
import { longDate, when } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { auditQuery, wholeLog } from "./account-query.ts";
import { useActors } from "./use-actors.ts";

/** The audit log of the account, newest first; a button loads the next page. */
export function AuditLog() {
  const t = useText();
  const [filter, setFilter] = useState(wholeLog);
  const log = useInfiniteQuery(auditQuery(filter));
  const whole = useInfiniteQuery(auditQuery(wholeLog));
  const { data, error, hasNextPage, isFetchingNextPage } = log;
  const events = eventsOf(data);
  const logged = whole.data?.pages[0]?.actors ?? [];
  const { all, nameOf } = useActors([...eventsOf(whole.data), ...events], logged);
  return (
    <section aria-labelledby="log">
      <div className="account-head">
        <h2 id="log">{t(accountText.log)}</h2>
        <p className="quiet">{t(accountText.logNext)}</p>
      </div>
      <AuditLogFilter filter={filter} actors={all} nameOf={nameOf} onChange={setFilter} />
      {data && events.length === 0 && <p className="quiet">{t(accountText.logNone)}</p>}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      <ol className="audit-log" aria-labelledby="log">
        {events.map((event) => (
          <Line key={event.name} event={event} nameOf={nameOf} />
        ))}
      </ol>
      {error && <ProblemNote error={error} onRetry={() => void log.fetchNextPage()} />}
      {hasNextPage && !error && (
        <Button onPress={() => void log.fetchNextPage()} isPending={isFetchingNextPage}>
          {t(accountText.older)}
        </Button>
      )}
    </section>
  );
}

function eventsOf(data: InfiniteData<ListAuditEventsResponseJson> | undefined) {
  return data?.pages.flatMap(({ auditEvents = [] }) => auditEvents) ?? [];
}

function Line({
  event,
  nameOf,
}: {
  readonly event: AuditEventJson;
  readonly nameOf: (actor: string) => string;
}) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const { time = "", actor = "", action = "", outcome, address = "", details = {} } = event;
  const at = new Date(time);
  return (
    <li>
      <time dateTime={time} title={`${longDate(language, at)} ${exactTime(at)}`}>
        {when(language, at, now)}
      </time>
      <span>
        <b>{nameOf(actor)}</b> {t(actText(action, details))}
        <Target event={event} nameOf={nameOf} isSaid={saysTarget(details)} />
        {outcome === "REFUSED" && (
          <>
            {" "}
            <span className="failed" data-sign="✕">
              ({t(accountText.refused)})
            </span>
          </>
        )}
      </span>
      <span className="figures">{address}</span>
    </li>
  );
}

/** What an act was done to: a transcript, or the name of a member or a key. */
function Target({
  event: { resource = "", action = "" },
  nameOf,
  isSaid,
}: {
  readonly event: AuditEventJson;
  readonly nameOf: (actor: string) => string;
  /** Whether the text of the act names it already. */
  readonly isSaid: boolean;
}) {
  const [, transcript] = /^(transcripts\/[^/]+)/.exec(resource) ?? [];
  if (transcript !== undefined) {
    const id = transcript.slice(-8);
    // A page of a deleted transcript has nothing to show.
    const isGone = action === "transcript.delete" || action === "transcript.bin";
    return (
      <span className="figures">
        {": "}
        {isGone ? id : <Link to={`/${transcript}`}>{id}</Link>}
      </span>
    );
  }
  const isNamed = /^(members|apiKeys|clientKeys)\//.test(resource);
  return isNamed && !isSaid ? `: ${nameOf(resource)}` : null;
}

function saysTarget({ displayName = "", email = "" }: Readonly<Record<string, string>>): boolean {
  return displayName !== "" || email !== "";
}

function exactTime(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => `${part}`.padStart(2, "0"))
    .join(":");
}
