import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Chip } from "../parts/chip.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { longDate } from "../text/dates.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText, secondsOf } from "../text/numbers.ts";
import { transcriptText } from "../text/transcript.ts";

/** The title of a transcript with its date, length and language, and its keywords. */
export function ReadingHead({ transcript }: { readonly transcript: TranscriptJson }) {
  const t = useText();
  const { language } = useLanguage();
  const { metadata, version } = transcript;
  const { subject = "", recordingDuration, languageCode = "", keywords = [] } = metadata ?? {};
  const facts = [
    version?.creationTime === undefined ? "" : longDate(language, new Date(version.creationTime)),
    // The duration is null if there is no media.
    recordingDuration ? clockText(secondsOf(recordingDuration)) : "",
    languageCode === "" ? "" : t(languageName(languageCode)),
  ];
  return (
    <>
      <PageHead
        title={subject.trim() === "" ? t(transcriptText.untitled) : subject}
        sub={facts.filter((fact) => fact !== "").join(" · ")}
      />
      {keywords.length > 0 && (
        <ul className="reading-keywords" aria-label={t(transcriptText.keywords)}>
          {[...new Set(keywords)].map((keyword) => (
            <li key={keyword}>
              <Chip text={keyword} />
            </li>
          ))}
        </ul>
      )}
      {/* On a phone the aside is below the text. */}
      <a className="reading-to-aside" href="#about">
        {t(transcriptText.toAside)}
      </a>
    </>
  );
}
