import { useQuery } from "@tanstack/react-query";
import type { SubmitTranscriptJobRequestJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { modelsQuery } from "../../api/installed-languages.ts";
import { Choice } from "../../parts/choice.tsx";
import { useText } from "../../text/language.tsx";
import { transcribeAgainText } from "../../text/transcribe-again.ts";

/** How a recording is recognized: the model, and how many speakers are distinguished. */
export interface RecognitionChoices {
  /** The name of the model; "" for the one that serves the language. */
  readonly model: string;
  /** AUTO: as many as there are; NONE: none; otherwise the maximum number. */
  readonly speakers: string;
}

export const usualChoices: RecognitionChoices = { model: "", speakers: "AUTO" };

/** The maximum number of speakers that a request can name (docs/api.md). */
const speakersMax = 20;

/** Returns the fields of a request for the choices. */
export function choiceFields({
  model,
  speakers,
}: RecognitionChoices): Pick<SubmitTranscriptJobRequestJson, "model" | "diarizationConfig"> {
  return {
    ...(model !== "" && { model }),
    ...(speakers === "NONE" && { diarizationConfig: { enableSpeakerDiarization: false } }),
    ...(/^\d+$/.test(speakers) && {
      diarizationConfig: { enableSpeakerDiarization: true, maxSpeakerCount: Number(speakers) },
    }),
  };
}

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
