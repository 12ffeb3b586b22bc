import { useQuery } from "@tanstack/react-query";
import type { AccountJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { polledAccountQuery } from "../overview/overview-queries.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { commonText } from "../text/common.ts";
import { type Language, useLanguage, useText } from "../text/language.tsx";
import { bytesText, numberText, spanText } from "../text/numbers.ts";
import { usageText } from "../text/usage.ts";
import "./usage-page.css";

type Format = (language: Language, value: number) => string;

/** The limits of an account, with how their values are written. */
const limits: readonly (readonly [keyof typeof usageText.limitOf, Format])[] = [
  ["requestsPerMinute", numberText],
  ["concurrentStreams", numberText],
  ["queuedJobs", numberText],
  ["audioSecondsPerDay", spanText],
  ["storedBytes", bytesText],
];

/** The limits of the account, and how much of each is used. */
export function LimitsUsed() {
  const t = useText();
  const { data, error, refetch } = useQuery(polledAccountQuery);
  return (
    <section aria-labelledby="limits" className="limits">
      <div className="use-head">
        <h2 id="limits">{t(usageText.limits)}</h2>
        <p className="quiet">{t(usageText.limitsNext)}</p>
      </div>
      {error && !data && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet limits-loading">{t(commonText.loading)}</p>}
      {data && <Limits account={data} />}
    </section>
  );
}

function Limits({ account }: { readonly account: AccountJson }) {
  const t = useText();
  const { language } = useLanguage();
  return (
    <dl className="limits-list">
      {limits.map(([name, format]) => {
        const used = Number(account.usage?.[name] ?? 0);
        const max = Number(account.limits?.[name] ?? 0);
        const label = t(usageText.limitOf[name]);
        const percent = max === 0 ? 0 : Math.min(100, Math.floor((100 * used) / max));
        return (
          <div key={name}>
            <dt>{label}</dt>
            <dd className={max > 0 && used >= max ? "failed" : undefined}>
              {max === 0
                ? t(usageText.noLimit)(format(language, used))
                : t(usageText.ofLimit)(format(language, used), format(language, max))}
              {max > 0 && (
                <ProgressLine label={t(usageText.usedPart)(label, percent)} percent={percent} />
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
