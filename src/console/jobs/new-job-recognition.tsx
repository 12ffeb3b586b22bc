import { useState } from "react";
import type { FieldViolation } from "../api/api-error.ts";
import { loadLater } from "../parts/load-later.tsx";
import { languageName } from "../text/language-names.ts";
import { useText } from "../text/language.tsx";
import { recordingDefaultsText } from "../text/recording-defaults.ts";
import type { JobDraft, ReadyDraft } from "./job-draft.ts";
import { wordsIn } from "./recognition-fields.ts";
import type { UnusedDefault } from "./use-draft-options.ts";

const Fields = loadLater(() =>
  import("./recognition-form.tsx").then(({ RecognitionForm }) => RecognitionForm),
);

/**
 * The model, the speakers and the words to expect of a new job, folded until the user opens them or
 * the words have a problem. The summary says what applies, and what of the defaults does not.
 */
export function NewJobRecognition({
  ready,
  unused,
  violations,
  onChange,
}: {
  readonly ready: ReadyDraft;
  readonly unused: readonly UnusedDefault[];
  readonly violations: readonly FieldViolation[];
  readonly onChange: (fields: Partial<JobDraft>) => void;
}) {
  const t = useText();
  const [isUnfolded, setIsUnfolded] = useState(false);
  const violation = violations.find(({ field }) => field.startsWith("speechContexts"));
  const isOpen = isUnfolded || violation !== undefined;
  const { recognition, words } = ready;
  const applied = appliedOf(recognition.model, recognition.speakers, words, t);
  return (
    <div className="new-job-recognition">
      <details open={isOpen} onToggle={({ currentTarget }) => setIsUnfolded(currentTarget.open)}>
        <summary>{t(recordingDefaultsText.recognition)}</summary>
        {isOpen && (
          <div className="new-job-details">
            <Fields
              languageCode={ready.languageCode}
              recognition={recognition}
              words={words}
              violation={violation}
              onRecognition={(chosen) => onChange({ recognition: chosen })}
              onWords={(text) => onChange({ words: text })}
            />
          </div>
        )}
      </details>
      {!isOpen && applied !== "" && (
        <p className="hint" dir="auto">
          {applied}
        </p>
      )}
      {unused.map((each) => (
        <p key={each.kind} className="hint">
          {each.kind === "LANGUAGE" &&
            t(recordingDefaultsText.languageGone)(t(languageName(each.name)))}
          {each.kind === "MODEL" && t(recordingDefaultsText.modelGone)(each.name)}
          {each.kind === "SPEAKERS" && t(recordingDefaultsText.speakersGone)}
          {each.kind === "WORDS" && t(recordingDefaultsText.wordsUnused)}
        </p>
      ))}
    </div>
  );
}

/** Returns what differs from the usual, as one line. */
function appliedOf(
  model: string,
  speakers: string,
  words: string,
  t: ReturnType<typeof useText>,
): string {
  const count = wordsIn(words).length;
  const parts = [
    ...(model === "" ? [] : [t(recordingDefaultsText.withModel)(model)]),
    ...(speakers === "NONE" ? [t(recordingDefaultsText.withoutSpeakers)] : []),
    ...(/^\d+$/.test(speakers) ? [t(recordingDefaultsText.withSpeakers)(Number(speakers))] : []),
    ...(count > 0 ? [t(recordingDefaultsText.withWords)(count)] : []),
  ];
  return parts.join(" · ");
}
