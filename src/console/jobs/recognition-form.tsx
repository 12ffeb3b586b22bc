import type { FieldViolation } from "../api/api-error.ts";
import { SaidText } from "../parts/said-text.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { hintViolationText } from "../text/hint-violations.ts";
import { useText } from "../text/language.tsx";
import { transcribeAgainText } from "../text/transcribe-again.ts";
import { ChooseRecognition } from "./choose-recognition.tsx";
import type { RecognitionChoices } from "./recognition-fields.ts";

/** The fields for the model, the speakers and the words to expect of a new recording. */
export function RecognitionForm({
  languageCode,
  recognition,
  words,
  violation,
  onRecognition,
  onWords,
}: {
  readonly languageCode: string;
  readonly recognition: RecognitionChoices;
  readonly words: string;
  /** The service's violation in the words. */
  readonly violation: FieldViolation | undefined;
  readonly onRecognition: (chosen: RecognitionChoices) => void;
  readonly onWords: (text: string) => void;
}) {
  const t = useText();
  return (
    <>
      <ChooseRecognition
        languageCode={languageCode}
        chosen={recognition}
        onChange={onRecognition}
      />
      <TextInput
        label={t(transcribeAgainText.words)}
        hint={t(transcribeAgainText.wordsHint)}
        problem={violation && <SaidText said={hintViolationText(violation)} />}
        lines={3}
        value={words}
        onChange={onWords}
      />
    </>
  );
}
