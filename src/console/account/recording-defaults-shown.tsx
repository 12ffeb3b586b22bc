import type { RecordingDefaultsJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { speakersOf } from "../jobs/recognition-fields.ts";
import { newJobText } from "../text/jobs.ts";
import { languageName } from "../text/language-names.ts";
import { useText } from "../text/language.tsx";
import { recordingDefaultsText } from "../text/recording-defaults.ts";
import { transcribeAgainText } from "../text/transcribe-again.ts";

/** The defaults for new recordings, for users who cannot change them. */
export function RecordingDefaultsShown({ defaults }: { readonly defaults: RecordingDefaultsJson }) {
  const t = useText();
  const { languageCode = "", model = "", phrases = [], wordsAsSpoken = false } = defaults;
  const speakers = speakersOf(defaults.diarizationConfig);
  const facts: readonly [name: string, value: string][] = [
    [
      t(recordingDefaultsText.language),
      languageCode === ""
        ? t(recordingDefaultsText.languageOfConsole)
        : t(newJobText.spoken)(t(languageName(languageCode))),
    ],
    [t(transcribeAgainText.model), model === "" ? t(transcribeAgainText.usualModel) : model],
    [t(transcribeAgainText.speakers), t(speakersText(speakers))],
    [
      t(transcribeAgainText.words),
      phrases.length === 0 ? t(recordingDefaultsText.noWords) : phrases.join(", "),
    ],
    [
      t(recordingDefaultsText.writing),
      t(wordsAsSpoken ? recordingDefaultsText.asSpoken : newJobText.written),
    ],
  ];
  return (
    <section aria-labelledby="recording-defaults">
      <div className="use-head">
        <h2 id="recording-defaults">{t(recordingDefaultsText.title)}</h2>
        <p className="quiet">{t(recordingDefaultsText.readOnly)}</p>
      </div>
      <dl className="limits-list">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function speakersText(speakers: string) {
  if (speakers === "AUTO") return transcribeAgainText.speakersAll;
  if (speakers === "NONE") return transcribeAgainText.speakersNone;
  const { is, en } = transcribeAgainText.speakersMost;
  return { is: is(Number(speakers)), en: en(Number(speakers)) };
}
