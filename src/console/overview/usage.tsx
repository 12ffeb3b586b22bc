import { useQuery } from "@tanstack/react-query";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { monthName } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText, numberText, spanText } from "../text/numbers.ts";
import { overviewText } from "../text/overview.ts";
import { polledAccountQuery, usageDaysQuery } from "./overview-queries.ts";
import { UsageDays } from "./usage-days.tsx";
import { monthOf } from "./usage-month.ts";

/** The account's use this month with its limits, in total and per day. */
export function Usage() {
  const t = useText();
  const { language } = useLanguage();
  const account = useQuery(polledAccountQuery);
  const usageDays = useQuery(usageDaysQuery);
  const error = account.error ?? usageDays.error;
  if (!account.data || !usageDays.data) {
    if (!error) return <p className="quiet">{t(commonText.loading)}</p>;
    const retry = () => void Promise.all([account.refetch(), usageDays.refetch()]);
    return <ProblemNote error={error} onRetry={retry} />;
  }
  const { limits = {}, usage = {} } = account.data;
  const now = new Date(usageDays.dataUpdatedAt);
  const use = monthOf(usageDays.data, now);
  const { all, live, short, jobs } = use.seconds;
  const span = (seconds: number): string => spanText(language, seconds);
  const [storedMax, audioMax] = [Number(limits.storedBytes ?? 0), limits.audioSecondsPerDay ?? 0];
  const requestsMax = limits.requestsPerMinute ?? 0;
  return (
    <section className="usage" aria-labelledby="usage">
      <h2 id="usage">
        {t(overviewText.usage)(monthName(language, new Date(use.year, use.month, 1)))}
      </h2>
      <dl className="usage-figures">
        <div>
          <dt>{t(overviewText.audio)}</dt>
          <dd className="usage-figure">{span(all)}</dd>
          <dd>{t(overviewText.audioParts)(span(jobs), span(live), span(short))}</dd>
          {audioMax > 0 && (
            <dd>
              {t(overviewText.audioToday)(span(usage.audioSecondsPerDay ?? 0), span(audioMax))}
            </dd>
          )}
        </div>
        <div>
          <dt>{t(overviewText.requests)}</dt>
          <dd className="usage-figure">{numberText(language, use.requests)}</dd>
          <dd>
            {requestsMax > 0 ? t(overviewText.requestsMax)(requestsMax) : t(overviewText.noLimit)}
          </dd>
        </div>
        <div>
          <dt>{t(overviewText.stored)}</dt>
          <dd className="usage-figure">{bytesText(language, Number(usage.storedBytes ?? 0))}</dd>
          <dd>
            {storedMax > 0
              ? t(overviewText.storedMax)(bytesText(language, storedMax))
              : t(overviewText.noLimit)}
          </dd>
        </div>
      </dl>
      <UsageDays use={use} today={now.getUTCDate()} />
    </section>
  );
}
