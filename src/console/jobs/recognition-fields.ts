import type { SubmitTranscriptJobRequestJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** How a recording is recognized: the model, and how many speakers are distinguished. */
export interface RecognitionChoices {
  /** The name of the model; "" for the one that serves the language. */
  readonly model: string;
  /** AUTO: as many as there are; NONE: none; otherwise the maximum number. */
  readonly speakers: string;
}

export const usualChoices: RecognitionChoices = { model: "", speakers: "AUTO" };

type Diarization = NonNullable<SubmitTranscriptJobRequestJson["diarizationConfig"]>;

/** Returns the fields of a request for the choices. */
export function choiceFields({
  model,
  speakers,
}: RecognitionChoices): Pick<SubmitTranscriptJobRequestJson, "model" | "diarizationConfig"> {
  const diarizationConfig = diarizationOf(speakers);
  return { ...(model !== "" && { model }), ...(diarizationConfig && { diarizationConfig }) };
}

/** Returns the configuration for a choice of speakers; undefined for as many as there are. */
export function diarizationOf(speakers: string): Diarization | undefined {
  if (speakers === "NONE") return { enableSpeakerDiarization: false };
  if (!/^\d+$/.test(speakers)) return undefined;
  return { enableSpeakerDiarization: true, maxSpeakerCount: Number(speakers) };
}

/** Returns the choice of speakers for a configuration. */
export function speakersOf(config: Diarization | undefined): string {
  if (!config) return "AUTO";
  const { enableSpeakerDiarization = false, maxSpeakerCount = 0 } = config;
  if (!enableSpeakerDiarization) return "NONE";
  return maxSpeakerCount === 0 ? "AUTO" : `${maxSpeakerCount}`;
}

/** Returns the words to expect in a text, one on each line or separated by commas. */
export function wordsIn(text: string): readonly string[] {
  const all = text.split(/[,\n]/).map((word) => word.trim());
  return [...new Set(all.filter((word) => word !== ""))];
}

/** Returns the field of a request for words to expect. */
export function wordFields(text: string): Pick<SubmitTranscriptJobRequestJson, "speechContexts"> {
  const phrases = [...wordsIn(text)];
  return phrases.length > 0 ? { speechContexts: [{ phrases }] } : {};
}
