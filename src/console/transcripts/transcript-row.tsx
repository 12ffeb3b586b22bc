import { Link } from "wouter";
import { ChipButton } from "../parts/chip-button.tsx";
import { shortDate } from "../text/dates.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText } from "../text/numbers.ts";
import { transcriptsText } from "../text/transcripts.ts";
import type { TranscriptSummary } from "./page-query.ts";
import type { Selection } from "./use-selection.ts";

/** The number of keywords that fit in a row. The transcript's own page shows all of them. */
const keywordsShown = 3;
const speakersShown = 3;

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
  searched,
  onKeyword,
  firstWords,
  isSelected,
  onSelect,
}: {
  readonly row: TranscriptSummary | undefined;
  readonly index: number;
  /** The number of rows in the list; -1 while it is unknown. */
  readonly setSize: number;
  readonly top: number;
  readonly now: Date;
  /** The keywords of the search, which are shown first. */
  readonly searched: readonly string[];
  readonly onKeyword: (keyword: string) => void;
  /** The first words of the text; "" until they are known. */
  readonly firstWords: string;
  readonly isSelected: boolean;
  readonly onSelect: Selection["select"];
}) {
  const t = useText();
  return (
    <li
      className="transcript-row"
      data-row={index}
      data-selected={isSelected || undefined}
      aria-setsize={setSize}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${top}px)` }}
    >
      {row ? (
        <>
          <input
            type="checkbox"
            className="select"
            aria-label={t(transcriptsText.select)(row.subject || t(transcriptsText.untitled))}
            checked={isSelected}
            // With the shift key, the rows since the last one are selected too.
            onClick={({ shiftKey }) => onSelect(row, index, shiftKey)}
            readOnly
          />
          <Loaded {...{ row, now, searched, onKeyword, firstWords }} />
        </>
      ) : (
        <span className="transcript-row-waiting" />
      )}
    </li>
  );
}

function Loaded({
  row,
  now,
  searched,
  onKeyword,
  firstWords,
}: {
  readonly firstWords: string;
  readonly row: TranscriptSummary;
  readonly now: Date;
  readonly searched: readonly string[];
  readonly onKeyword: (keyword: string) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { id, subject, languageCode, seconds, versionTime, isChanged } = row;
  const isSearched = (keyword: string) => searched.includes(keyword);
  const keywords = row.keywords.toSorted((a, b) => Number(isSearched(b)) - Number(isSearched(a)));
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
        <Speakers row={row} />
      </div>
      <p className="first-words" dir="auto" lang={languageCode || undefined}>
        {firstWords}
      </p>
      <div className="side">
        {seconds !== undefined && <span>{clockText(seconds)}</span>}
        <time dateTime={versionTime}>{isChanged ? t(transcriptsText.changed)(day) : day}</time>
      </div>
    </>
  );
}

/** The names of the speakers, or their number if none has a name. */
function Speakers({ row: { speakers, speakerNames } }: { readonly row: TranscriptSummary }) {
  const t = useText();
  if (speakers === 0) return null;
  if (speakerNames.length === 0) return <span>{t(transcriptsText.speakers)(speakers)}</span>;
  const more = speakers - Math.min(speakerNames.length, speakersShown);
  return (
    <span dir="auto">
      {speakerNames.slice(0, speakersShown).join(", ")}
      {more > 0 && ` +${more}`}
    </span>
  );
}
