import { Link } from "wouter";
import { Chip } from "../parts/chip.tsx";
import { shortDate } from "../text/dates.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText } from "../text/numbers.ts";
import { overviewText } from "../text/overview.ts";
import type { TranscriptSummary } from "../transcripts/page-query.ts";

/** The maximum number of keywords shown for each transcript. */
const keywordsShown = 3;

/** The transcripts that were changed last. */
export function LatestTranscripts({
  rows,
  now,
}: {
  readonly rows: readonly TranscriptSummary[];
  readonly now: Date;
}) {
  const t = useText();
  const { language } = useLanguage();
  return (
    <section aria-labelledby="latest-transcripts">
      <h2 id="latest-transcripts">{t(overviewText.latest)}</h2>
      {rows.length === 0 ? (
        <p className="soft">{t(overviewText.noTranscripts)}</p>
      ) : (
        <ul className="rows">
          {rows.map(({ id, subject, keywords, languageCode, seconds, versionTime }) => (
            <li key={id} className="row">
              <Link
                className="title"
                dir="auto"
                to={`/transcripts/${id}`}
                lang={languageCode || undefined}
              >
                {subject || t(overviewText.untitled)}
              </Link>
              <div className="meta">
                {[...new Set(keywords)].slice(0, keywordsShown).map((keyword) => (
                  <Chip key={keyword} text={keyword} />
                ))}
                <span>{t(languageName(languageCode))}</span>
              </div>
              <div className="side">
                {seconds !== undefined && <div>{clockText(seconds)}</div>}
                <time dateTime={versionTime}>
                  {shortDate(language, new Date(versionTime), now)}
                </time>
              </div>
            </li>
          ))}
        </ul>
      )}
      <p className="section-more">
        <Link to="/transcripts">{t(overviewText.allTranscripts)}</Link>
      </p>
    </section>
  );
}
