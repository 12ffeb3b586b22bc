import { Link } from "wouter";
import { ChipButton } from "../parts/chip-button.tsx";
import { shortDate } from "../text/dates.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText } from "../text/numbers.ts";
import { transcriptsText } from "../text/transcripts.ts";
import type { TranscriptSummary } from "./page-query.ts";

/** The number of keywords that fit in a row. The transcript's own page shows all of them. */
const keywordsShown = 3;

/**
 * A transcript in the list: its title, which is a link to the transcript, and its details. `row` is
 * undefined while its page is loading.
 */
export function TranscriptRow({
  row,
  index,
  setSize,
  top,
  now,
  onKeyword,
}: {
  readonly row: TranscriptSummary | undefined;
  readonly index: number;
  /** The number of rows in the list; -1 while it is unknown. */
  readonly setSize: number;
  readonly top: number;
  readonly now: Date;
  readonly onKeyword: (keyword: string) => void;
}) {
  return (
    <li
      className="transcript-row"
      data-row={index}
      aria-setsize={setSize}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${top}px)` }}
    >
      {row ? (
        <Loaded row={row} now={now} onKeyword={onKeyword} />
      ) : (
        <span className="transcript-row-waiting" />
      )}
    </li>
  );
}

function Loaded({
  row,
  now,
  onKeyword,
}: {
  readonly row: TranscriptSummary;
  readonly now: Date;
  readonly onKeyword: (keyword: string) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { id, subject, keywords, languageCode, seconds, speakers, versionTime, isChanged } = row;
  const date = new Date(versionTime);
  const day = shortDate(language, date, now);
  return (
    <>
      <Link to={`/transcripts/${id}`} className="title" dir="auto" lang={languageCode || undefined}>
        {subject || t(transcriptsText.untitled)}
      </Link>
      <div className="facts">
        {keywords.slice(0, keywordsShown).map((keyword) => (
          <ChipButton
            key={keyword}
            text={keyword}
            label={t(transcriptsText.withKeyword)(keyword)}
            onPress={() => onKeyword(keyword)}
          />
        ))}
        {keywords.length > keywordsShown && <span>+{keywords.length - keywordsShown}</span>}
        <span>{t(languageName(languageCode))}</span>
        {speakers > 0 && <span>{t(transcriptsText.speakers)(speakers)}</span>}
      </div>
      <div className="side">
        {seconds !== undefined && <span>{clockText(seconds)}</span>}
        <time dateTime={versionTime}>{isChanged ? t(transcriptsText.changed)(day) : day}</time>
      </div>
    </>
  );
}
