import { shortDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { spanText } from "../text/numbers.ts";
import { overviewText } from "../text/overview.ts";
import type { MonthUse } from "./usage-month.ts";

/**
 * A column chart of the audio per day. Each column has a text that is shown on hover and read by
 * screen readers.
 */
export function UsageDays({ use, today }: { readonly use: MonthUse; readonly today: number }) {
  const t = useText();
  const { language } = useLanguage();
  const secondsMax = Math.max(...use.days.map(({ seconds }) => seconds));
  const describe = (day: number, seconds: number, requests: number): string => {
    const date = new Date(use.year, use.month, day);
    return t(overviewText.day)(
      shortDate(language, date, date),
      spanText(language, seconds),
      requests,
    );
  };
  return (
    <div className="usage-days">
      <p className="usage-days-head">
        <span>{t(overviewText.days)}</span>
        {secondsMax > 0 && <span className="figures">{spanText(language, secondsMax)}</span>}
      </p>
      <ol>
        {use.days.map(({ day, seconds, requests }) => (
          <li key={day} data-when={day === today ? "today" : day > today ? "later" : undefined}>
            {day <= today && (
              <span className="usage-day-text">{describe(day, seconds, requests)}</span>
            )}
            <span
              className="usage-day"
              style={{ height: secondsMax > 0 ? `${(100 * seconds) / secondsMax}%` : 0 }}
            />
            {(day === 1 || day % 5 === 0) && (
              <span className="usage-day-number" aria-hidden="true">
                {day}
              </span>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}
