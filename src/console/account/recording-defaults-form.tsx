import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import type {
  AccountJson,
  RecordingDefaultsJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useInstalledLanguages } from "../api/installed-languages.ts";
import { accountQuery } from "../api/recording-defaults.ts";
import { areAllInFields, violationIn } from "../api/violations.ts";
import {
  diarizationOf,
  speakersOf,
  type RecognitionChoices,
  wordsIn,
} from "../jobs/recognition-fields.ts";
import { RecognitionForm } from "../jobs/recognition-form.tsx";
import { WrittenChoice } from "../jobs/written-choice.tsx";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { newJobText } from "../text/jobs.ts";
import { languageName } from "../text/language-names.ts";
import { useText } from "../text/language.tsx";
import { recordingDefaultsText } from "../text/recording-defaults.ts";
import { type FormPart, mergedValues, useStoredValues } from "./stored-values.ts";

/** The defaults as the form has them. */
interface Values {
  /** "" for that of the console. */
  readonly languageCode: string;
  readonly model: string;
  readonly speakers: RecognitionChoices["speakers"];
  readonly words: string;
  readonly isWritten: boolean;
}

const parts: readonly FormPart<Values>[] = [
  // A model belongs to its language.
  {
    fields: ["languageCode", "model"],
    textOf: ({ languageCode, model }) => JSON.stringify([languageCode, model]),
  },
  { fields: ["speakers"], textOf: ({ speakers }) => speakers },
  { fields: ["words"], textOf: ({ words }) => wordsIn(words).join("\n") },
  { fields: ["isWritten"], textOf: ({ isWritten }) => `${isWritten}` },
];

const [languageField, phrasesField] = [
  "recordingDefaults.languageCode",
  "recordingDefaults.phrases",
] as const;

/**
 * The form of the account's defaults for new recordings. What others change meanwhile is shown and
 * stays, except in the fields that the user has changed.
 */
export function RecordingDefaultsForm({ account }: { readonly account: AccountJson }) {
  const t = useText();
  const { before, values, change, send } = useStoredValues(account, defaultsIn, parts);
  const save = useSave(send);
  const { languageCode, model, speakers, words, isWritten } = values;
  const isChanged = textOf(values) !== textOf(before);
  const { error } = save;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate({ values, before });
  };
  const languageProblem = violationOf(error, languageField);
  return (
    <form className="settings-form" onSubmit={submit} noValidate>
      <fieldset className="settings-group">
        <legend>{t(recordingDefaultsText.title)}</legend>
        <p className="hint">{t(recordingDefaultsText.next)}</p>
        <ChooseLanguage
          languageCode={languageCode}
          onChange={(code) => change({ languageCode: code, model: "" })}
        />
        {languageProblem !== undefined && (
          <p className="hint failed" role="alert">
            {languageProblem}
          </p>
        )}
        <p className="hint">{t(recordingDefaultsText.modelNext)}</p>
        <RecognitionForm
          languageCode={languageCode}
          recognition={{ model, speakers }}
          words={words}
          violation={violationIn(error, phrasesField)}
          onRecognition={change}
          onWords={(text) => change({ words: text })}
        />
        <WrittenChoice isWritten={isWritten} onChange={(chosen) => change({ isWritten: chosen })} />
      </fieldset>
      {error && !areAllInFields(error, [languageField, phrasesField]) && (
        <ProblemNote error={error} />
      )}
      <div className="settings-actions">
        <Button type="submit" isPending={save.isPending}>
          {t(recordingDefaultsText.save)}
        </Button>
        {isChanged && <span className="quiet">{t(recordingDefaultsText.unsaved)}</span>}
      </div>
    </form>
  );
}

function ChooseLanguage({
  languageCode,
  onChange,
}: {
  readonly languageCode: string;
  readonly onChange: (languageCode: string) => void;
}) {
  const t = useText();
  const installed = useInstalledLanguages("JOB");
  const isMissing = languageCode !== "" && !installed.includes(languageCode);
  const nameOf = (code: string): string => t(newJobText.spoken)(t(languageName(code)));
  return (
    <Choice
      label={t(recordingDefaultsText.language)}
      value={languageCode}
      options={[
        { value: "", text: t(recordingDefaultsText.languageOfConsole) },
        ...installed.map((code) => ({ value: code, text: nameOf(code) })),
        ...(isMissing
          ? [
              {
                value: languageCode,
                text: t(recordingDefaultsText.languageMissing)(nameOf(languageCode)),
              },
            ]
          : []),
      ]}
      onChange={onChange}
    />
  );
}

function defaultsIn({ recordingDefaults: defaults = {} }: AccountJson): Values {
  const { languageCode = "", model = "", diarizationConfig, phrases = [] } = defaults;
  return {
    languageCode,
    model,
    speakers: speakersOf(diarizationConfig),
    words: phrases.join("\n"),
    isWritten: defaults.wordsAsSpoken !== true,
  };
}

function defaultsOf({
  languageCode,
  model,
  speakers,
  words,
  isWritten,
}: Values): RecordingDefaultsJson {
  const diarizationConfig = diarizationOf(speakers);
  const phrases = [...wordsIn(words)];
  return {
    ...(languageCode !== "" && { languageCode }),
    ...(model !== "" && { model }),
    ...(diarizationConfig && { diarizationConfig }),
    ...(phrases.length > 0 && { phrases }),
    ...(!isWritten && { wordsAsSpoken: true }),
  };
}

/** Returns the values as a text by which they are compared. */
function textOf(values: Values): string {
  return JSON.stringify(defaultsOf(values));
}

/** Saves the values that differ from those before. */
function useSave(send: (call: () => Promise<AccountJson>) => Promise<AccountJson>) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  return useMutation({
    async mutationFn({ values, before }: { readonly values: Values; readonly before: Values }) {
      const account = await send(async () => {
        // The service replaces all defaults, so those that others have just changed are sent back.
        const stored = defaultsIn(await callApi<AccountJson>("/v1/account"));
        const merged = mergedValues(parts, { now: values, base: before, stored });
        const body = { recordingDefaults: defaultsOf(merged) };
        return await callApi<AccountJson>("/v1/account", { method: "PATCH", body });
      });
      queries.setQueryData(accountQuery.queryKey, account);
    },
    onSuccess: async () => {
      notify(t(recordingDefaultsText.saved));
      await queries.invalidateQueries({ queryKey: ["account"] });
    },
  });
}
