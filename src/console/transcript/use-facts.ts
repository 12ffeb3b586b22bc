import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { longDate } from "../text/dates.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { lengthText, secondsOf } from "../text/numbers.ts";

/** The date of a transcript's version, the length of the recording, and the language. */
export function useFacts({ metadata, version }: TranscriptJson): string {
  const t = useText();
  const { language } = useLanguage();
  const { recordingDuration, languageCode = "" } = metadata ?? {};
  const facts = [
    version?.creationTime === undefined ? "" : longDate(language, new Date(version.creationTime)),
    // The duration is null if there is no media.
    recordingDuration ? lengthText(language, secondsOf(recordingDuration)) : "",
    languageCode === "" ? "" : t(languageName(languageCode)),
  ];
  return facts.filter((fact) => fact !== "").join(" · ");
}
