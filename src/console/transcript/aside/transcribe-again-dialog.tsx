import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, type FieldViolation } from "../../api/api-error.ts";
import { useInstalledLanguages } from "../../api/installed-languages.ts";
import { useRecordingDefaults } from "../../api/recording-defaults.ts";
import { ChooseRecognition } from "../../jobs/choose-recognition.tsx";
import {
  choiceFields,
  type RecognitionChoices,
  usualChoices,
  wordFields,
} from "../../jobs/recognition-fields.ts";
import { readWritten, writtenFields } from "../../jobs/written-fields.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { SaidText } from "../../parts/said-text.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { commonText } from "../../text/common.ts";
import { hintViolationText } from "../../text/hint-violations.ts";
import { formViolationText } from "../../text/form-violations.ts";
import { newJobText } from "../../text/jobs.ts";
import { languageName } from "../../text/language-names.ts";
import { useText } from "../../text/language.tsx";
import { transcribeAgainText } from "../../text/transcribe-again.ts";
import { submitJob } from "../../upload/submit-job.ts";

/** A dialog that submits the recording of a transcript again, for a new version. */
export function TranscribeAgainDialog({
  name,
  languageCode,
  onSubmitted,
  onClose,
}: {
  readonly name: string;
  /** The language of the transcript. */
  readonly languageCode: string;
  /** Called with the name of the job. */
  readonly onSubmitted: (job: string) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const installed = useInstalledLanguages("JOB");
  const [chosen, setChosen] = useState<string>();
  const [words, setWords] = useState("");
  const [choices, setChoices] = useState<RecognitionChoices>(usualChoices);
  // Pressing the button again after a lost response does not create a second job.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const changing =
    <Value,>(set: (value: Value) => void) =>
    (value: Value): void => {
      set(value);
      setKey(crypto.randomUUID());
    };
  const initial = installed.includes(languageCode) ? languageCode : (installed[0] ?? languageCode);
  const language = chosen ?? initial;
  const { wordsAsSpoken = false } = useRecordingDefaults();
  const submit = useSubmitAgain({ onSubmitted, onClose });
  const send = (): void => {
    const request = {
      transcript: name,
      metadata: { languageCode: language },
      ...wordFields(words),
      ...choiceFields(choices),
      ...writtenFields(readWritten(!wordsAsSpoken)),
    };
    submit.mutate({ request, key });
  };
  const violation = submit.error instanceof ApiError ? submit.error.violations[0] : undefined;
  const isOfWords = violation?.field.startsWith("speechContexts") === true;
  return (
    <DialogBox
      title={t(transcribeAgainText.title)}
      isOpen
      onClose={onClose}
      isLocked={submit.isPending}
    >
      <p>{t(transcribeAgainText.what)}</p>
      <Choice
        label={t(transcribeAgainText.language)}
        value={language}
        options={installed.map((code) => ({
          value: code,
          text: t(newJobText.spoken)(t(languageName(code))),
        }))}
        onChange={changing((code: string) => {
          setChosen(code);
          setChoices({ ...choices, model: "" });
        })}
      />
      <ChooseRecognition languageCode={language} chosen={choices} onChange={changing(setChoices)} />
      <TextInput
        label={t(transcribeAgainText.words)}
        hint={t(transcribeAgainText.wordsHint)}
        problem={
          violation && isOfWords ? <SaidText said={hintViolationText(violation)} /> : undefined
        }
        lines={3}
        value={words}
        onChange={changing(setWords)}
      />
      {submit.error && !isOfWords && <Refusal error={submit.error} violation={violation} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="primary" isPending={submit.isPending} onPress={send}>
          {t(transcribeAgainText.submit)}
        </Button>
      </div>
    </DialogBox>
  );
}

function useSubmitAgain({
  onSubmitted,
  onClose,
}: {
  readonly onSubmitted: (job: string) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const notify = useNotify();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({
      request,
      key,
    }: {
      readonly request: Parameters<typeof submitJob>[0];
      readonly key: string;
    }) => await submitJob(request, { key }),
    onSuccess({ name: job = "" }) {
      void queries.invalidateQueries({ queryKey: ["jobs"] });
      notify(t(transcribeAgainText.submitted));
      onSubmitted(job);
      onClose();
    },
  });
}

/** Why the recording cannot be submitted. */
function Refusal({
  error,
  violation,
}: {
  readonly error: Error;
  readonly violation: FieldViolation | undefined;
}) {
  const own = { TRANSCRIPT_WITHOUT_MEDIA: transcribeAgainText.withoutMedia };
  return violation ? (
    <p className="failed" role="alert">
      <SaidText said={formViolationText(violation)} />
    </p>
  ) : (
    <ProblemNote error={error} own={own} />
  );
}
