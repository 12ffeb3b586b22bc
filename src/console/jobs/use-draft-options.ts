import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ModelJson } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { modelsQuery, useInstalledLanguages } from "../api/installed-languages.ts";
import { useRecordingDefaults } from "../api/recording-defaults.ts";
import { spokenLanguage } from "../api/spoken-language.ts";
import { useLanguage } from "../text/language.tsx";
import { isServing } from "./file-recognition.ts";
import type { JobDraft, ReadyDraft } from "./job-draft.ts";
import { speakersOf, usualChoices } from "./recognition-fields.ts";
import { readWritten } from "./written-fields.ts";

/** What of the account's defaults cannot be used for a draft, with its name if it has one. */
export type UnusedDefault =
  | { readonly kind: "LANGUAGE" | "MODEL"; readonly name: string }
  | { readonly kind: "SPEAKERS" | "WORDS" };

/** A draft with all its options, and what they are made of. */
export interface DraftOptions {
  /** One draft is one object, so that a second attempt to send it creates no second job. */
  readonly ready: ReadyDraft;
  /** The languages to choose from. */
  readonly languages: readonly string[];
  readonly unused: readonly UnusedDefault[];
  /** What of the defaults the form has where the user has chosen nothing. */
  readonly writtenByDefault: boolean;
  readonly languageByDefault: string | undefined;
}

const noPhrases: readonly string[] = [];
const noModels: readonly ModelJson[] = [];

/**
 * Returns a draft with the options that the user has not chosen: the last choice in this browser
 * for the language and the writing, or else the account's defaults for new recordings. The model
 * and the words of the defaults are for their language, and what cannot be used is left out.
 */
export function useDraftOptions(draft: JobDraft): DraftOptions {
  const { language } = useLanguage();
  const languages = useInstalledLanguages("JOB");
  const { data: models } = useQuery(modelsQuery);
  const defaults = useRecordingDefaults();
  const { languageCode: languageByDefault, model = "", phrases = noPhrases } = defaults;
  const { languageCode: chosen = "" } = draft;
  // A job in a language without a model would fail.
  const languageCode = languages.includes(chosen)
    ? chosen
    : spokenLanguage(languages, language, languageByDefault);
  const isOwn = languageByDefault === undefined || languageByDefault === languageCode;
  const serving = (models ?? []).filter((each) => isServing(each, languageCode));
  const hasModel = isOwn && serving.some(({ name }) => name === model);
  const used = hasModel ? serving.filter(({ name }) => name === model) : serving;
  const takesWords = isOwn && used.length > 0 && used.every(({ takesHints }) => takesHints);
  const speakers = speakersOf(defaults.diarizationConfig);
  const canDistinguish = models?.some(({ languageCodes = [] }) => languageCodes.length === 0);
  const writtenByDefault = defaults.wordsAsSpoken !== true;
  const ready = useMemo(
    (): ReadyDraft => ({
      ...draft,
      languageCode,
      isWritten: draft.isWritten ?? readWritten(writtenByDefault),
      recognition: draft.recognition ?? {
        model: hasModel ? model : usualChoices.model,
        speakers: canDistinguish === true ? speakers : usualChoices.speakers,
      },
      words: draft.words ?? (takesWords ? phrases.join("\n") : ""),
      hasOwnWords: draft.words !== undefined,
      models: models ?? noModels,
    }),
    [
      draft,
      languageCode,
      writtenByDefault,
      hasModel,
      model,
      canDistinguish,
      speakers,
      takesWords,
      phrases,
      models,
    ],
  );
  const unused: UnusedDefault[] = [];
  if (models) {
    const isKnown = languageByDefault === undefined || languages.includes(languageByDefault);
    if (!isKnown) unused.push({ kind: "LANGUAGE", name: languageByDefault });
    if (isOwn && model !== "" && !hasModel && !draft.recognition) {
      unused.push({ kind: "MODEL", name: model });
    }
    const asksSpeakers = defaults.diarizationConfig?.enableSpeakerDiarization === true;
    if (asksSpeakers && canDistinguish === false) unused.push({ kind: "SPEAKERS" });
    const hasWords = isOwn && phrases.length > 0 && draft.words === undefined;
    if (hasWords && !takesWords) unused.push({ kind: "WORDS" });
  }
  return { ready, languages, unused, writtenByDefault, languageByDefault };
}
