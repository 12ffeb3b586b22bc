import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "wouter";
import { useSession } from "../api/use-session.ts";
import { apiKeysQuery, clientKeysQuery } from "../keys/key.ts";
import { Choice } from "../parts/choice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { monthName, shortDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { usageText } from "../text/usage.ts";
import { useNow } from "../text/use-now.ts";
import { LimitsUsed } from "./limits-used.tsx";
import { PeopleUse } from "./people-use.tsx";
import { allDaysQuery, keyUsageQuery } from "./usage-query.ts";
import { UsageTable } from "./usage-table.tsx";
import { isNone, monthsOf, type NamedUse, noUse, restOf } from "./use.ts";
import "./usage-page.css";

/** The use of the account by day, month, key and person, and its limits. */
export function UsagePage() {
  const t = useText();
  const { account } = useSession();
  const { data, error, refetch } = useQuery(allDaysQuery);
  return (
    <div key={account.name} className="use-page">
      <PageHead title={t(commonText.usage)} sub={t(usageText.sub)} />
      <LimitsUsed />
      {error && !data && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet use-loading">{t(commonText.loading)}</p>}
      {data && <Months days={data} />}
    </div>
  );
}

function Months({ days }: { readonly days: readonly NamedUse[] }) {
  const t = useText();
  const { scopes } = useSession();
  const now = useNow();
  const [search, setSearch] = useSearchParams();
  const nameOfMonth = useMonthName();
  const thisMonth = now.toISOString().slice(0, "2026-11".length);
  const months = monthsOf(days);
  const known = [...new Set([thisMonth, ...months.map(({ name }) => name)])]
    .toSorted()
    .toReversed();
  const asked = search.get("month") ?? thisMonth;
  const month = known.includes(asked) ? asked : thisMonth;
  const ofMonth = days.filter(({ name }) => name.startsWith(month)).toReversed();
  return (
    <>
      <div className="use-choice">
        <Choice
          label={t(usageText.month)}
          value={month}
          options={known.map((value) => ({ value, text: nameOfMonth(value) }))}
          onChange={(chosen) => setSearch({ month: chosen }, { replace: true })}
        />
      </div>
      {ofMonth.length === 0 ? (
        <p className="use-none">{t(usageText.none)}</p>
      ) : (
        <Days month={month} days={ofMonth} />
      )}
      {scopes.includes("account") && (
        <Keys
          month={month}
          total={months.find(({ name }) => name === month) ?? { name: month, use: noUse }}
        />
      )}
      {scopes.includes("account") && <PeopleUse month={month} />}
      {months.length > 0 && (
        <UsageTable
          id="use-months"
          title={t(usageText.byMonth)}
          first={t(usageText.month)}
          rows={months}
          labelOf={nameOfMonth}
          csv={{ text: t(usageText.csvMonths), column: "month", fileName: "hlust-months.csv" }}
        />
      )}
    </>
  );
}

function Days({ month, days }: { readonly month: string; readonly days: readonly NamedUse[] }) {
  const t = useText();
  const { language } = useLanguage();
  const labelOf = (day: string) => {
    const date = dateOf(day);
    return shortDate(language, date, date);
  };
  return (
    <UsageTable
      id="use-days"
      title={t(usageText.byDay)}
      first={t(usageText.day)}
      rows={days}
      labelOf={labelOf}
      csv={{ text: t(usageText.csvDays), column: "date", fileName: `hlust-${month}.csv` }}
    />
  );
}

/** The use of each key, and what no key has used. */
function Keys({ month, total }: { readonly month: string; readonly total: NamedUse }) {
  const t = useText();
  const usage = useQuery(keyUsageQuery(month));
  const apiKeys = useQuery(apiKeysQuery);
  const clientKeys = useQuery(clientKeysQuery);
  const error = usage.error ?? apiKeys.error ?? clientKeys.error;
  if (!usage.data || !apiKeys.data || !clientKeys.data) {
    const retry = () =>
      void Promise.all([usage.refetch(), apiKeys.refetch(), clientKeys.refetch()]);
    return error ? (
      <ProblemNote error={error} onRetry={retry} />
    ) : (
      <p className="quiet use-loading">{t(commonText.loading)}</p>
    );
  }
  const names = new Map(
    [...apiKeys.data, ...clientKeys.data].map(({ name, displayName, label }) => [
      name,
      displayName ? `${displayName} (${label})` : label,
    ]),
  );
  const rest = restOf(
    total.use,
    usage.data.map(({ use }) => use),
  );
  const rows = [...usage.data, ...(isNone(rest) ? [] : [{ name: other, use: rest }])];
  if (rows.length === 0) return null;
  const labelOf = (name: string) => {
    if (name === other) return t(usageText.other);
    return name === "" ? t(usageText.revoked) : (names.get(name) ?? name);
  };
  return (
    <div>
      <UsageTable
        id="use-keys"
        title={t(usageText.byKey)}
        first={t(usageText.key)}
        rows={rows}
        labelOf={labelOf}
        csv={{
          text: t(usageText.csvKeys),
          column: "key",
          fileName: `hlust-keys-${month}.csv`,
          isLabeled: true,
        }}
      />
      <p className="quiet use-hint">{t(usageText.byKeyHint)}</p>
    </div>
  );
}

/** The name of the row for what no key has used, which no key can have. */
const other = "other";

/** Returns a function that names a month: "nóvember 2026". */
function useMonthName(): (month: string) => string {
  const { language } = useLanguage();
  return (month) => {
    const date = dateOf(`${month}-01`);
    return `${monthName(language, date)} ${date.getFullYear()}`;
  };
}

/** Returns a day of the service at noon here, so that no time zone makes another day of it. */
function dateOf(day: string): Date {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year ?? 0, (month ?? 1) - 1, date, 12);
}
