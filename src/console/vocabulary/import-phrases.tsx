import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { ImportVocabularyPhrasesResponseJson } from "../../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SaidText } from "../parts/said-text.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { useText } from "../text/language.tsx";
import { phraseViolationText } from "../text/phrase-violations.ts";
import { vocabularyProblems, vocabularyText } from "../text/vocabulary.ts";
import { lineProblems, linesOf } from "./phrase-lines.ts";
import { PhraseLanguage, useFirstLanguage } from "./phrase-language.tsx";

/** A dialog that imports lines, and shows which of them are invalid. */
export function ImportPhrases({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const [languageCode, setLanguageCode] = useState(useFirstLanguage());
  const [text, setText] = useState("");
  const [isChecked, setIsChecked] = useState(false);
  const lines = linesOf(text);
  const save = useMutation({
    mutationFn: () => {
      const phrases = lines.map(({ phrase }) => ({ phrase, languageCode }));
      return callApi<ImportVocabularyPhrasesResponseJson>("/v2beta1/vocabularyPhrases:import", {
        method: "POST",
        body: { phrases, skipExisting: true },
      });
    },
    onSuccess: async ({ importedCount = 0, skippedCount = 0 }) => {
      await queries.invalidateQueries({ queryKey: ["vocabulary"] });
      notify(t(vocabularyText.imported)(importedCount, skippedCount));
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (lines.length > 0 && !save.isPending) save.mutate();
  };
  const violations = save.error instanceof ApiError ? save.error.violations : [];
  const problems = lineProblems(violations, lines);
  return (
    <DialogBox
      title={t(vocabularyText.importLines)}
      isOpen
      onClose={onClose}
      isLocked={save.isPending}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        <PhraseLanguage value={languageCode} onChange={setLanguageCode} />
        <TextInput
          label={t(vocabularyText.lines)}
          hint={t(vocabularyText.linesHint)}
          lines={8}
          value={text}
          onChange={setText}
          problem={isChecked && lines.length === 0 ? t(vocabularyText.linesMissing) : undefined}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
          autoFocus
        />
        {save.error && problems.length === 0 && (
          <ProblemNote error={save.error} own={vocabularyProblems} />
        )}
        {problems.length > 0 && (
          <div role="alert">
            <p>{t(vocabularyText.notImported)}</p>
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it can be scrolled */}
            <ul className="phrase-problems" tabIndex={0} aria-label={t(vocabularyText.notImported)}>
              {problems.map(({ line, description }) => (
                <li key={`${line} ${description}`}>
                  {line === undefined ? "" : `${t(vocabularyText.line)(line)}: `}
                  <SaidText said={phraseViolationText({ description })} />
                </li>
              ))}
            </ul>
          </div>
        )}
        <FormActions
          text={t(vocabularyText.importNow)}
          isPending={save.isPending}
          onClose={onClose}
        />
      </form>
    </DialogBox>
  );
}
