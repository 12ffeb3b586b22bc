import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../api/installed-languages.ts";
import { Choice } from "../parts/choice.tsx";
import { useText } from "../text/language.tsx";
import { transcribeAgainText } from "../text/transcribe-again.ts";
import type { RecognitionChoices } from "./recognition-fields.ts";

/** The maximum number of speakers that a request can name (docs/api.md). */
const speakersMax = 20;

/** Lets a user choose among the installed models of a language, and the number of speakers. */
export function ChooseRecognition({
  languageCode,
  chosen,
  onChange,
}: {
  readonly languageCode: string;
  readonly chosen: RecognitionChoices;
  readonly onChange: (chosen: RecognitionChoices) => void;
}) {
  const t = useText();
  const { data: models = [] } = useQuery(modelsQuery);
  const names = models
    .filter(({ uses = [], languageCodes = [] }) => {
      return uses.includes("JOB") && languageCodes.includes(languageCode);
    })
    .map(({ name = "" }) => name);
  const isMissing = chosen.model !== "" && !names.includes(chosen.model);
  const canDistinguish = models.some(({ languageCodes = [] }) => languageCodes.length === 0);
  const counts = Array.from({ length: speakersMax }, (_, at) => at + 1);
  return (
    <>
      <Choice
        label={t(transcribeAgainText.model)}
        value={chosen.model}
        options={[
          { value: "", text: t(transcribeAgainText.usualModel) },
          ...names.map((name) => ({ value: name, text: name })),
          ...(isMissing
            ? [{ value: chosen.model, text: t(transcribeAgainText.notInstalled)(chosen.model) }]
            : []),
        ]}
        onChange={(model) => onChange({ ...chosen, model })}
      />
      {canDistinguish ? (
        <Choice
          label={t(transcribeAgainText.speakers)}
          value={chosen.speakers}
          options={[
            { value: "AUTO", text: t(transcribeAgainText.speakersAll) },
            ...counts.map((count) => ({
              value: `${count}`,
              text: t(transcribeAgainText.speakersMost)(count),
            })),
            { value: "NONE", text: t(transcribeAgainText.speakersNone) },
          ]}
          onChange={(speakers) => onChange({ ...chosen, speakers })}
        />
      ) : (
        <p className="hint">{t(transcribeAgainText.speakersNever)}</p>
      )}
    </>
  );
}
