import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { callApi } from "../api/call-api.ts";
import { areAllInFields } from "../api/violations.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { vocabularyProblems, vocabularyText } from "../text/vocabulary.ts";
import { draftOf, PhraseFields, requestOf, shownFields } from "./phrase-fields.tsx";
import { useFirstLanguage } from "./phrase-language.tsx";
import { changePhrase, type Phrase } from "./phrases-query.ts";

/** A dialog that adds a phrase, or changes one. */
export function EditPhrase({
  edited,
  onClose,
}: {
  readonly edited?: Phrase;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const [draft, setDraft] = useState(draftOf(edited, useFirstLanguage()));
  const [isChecked, setIsChecked] = useState(false);
  const save = useMutation({
    mutationFn: async () => {
      const body = requestOf(draft);
      if (edited) return await changePhrase(queries, edited.name, body);
      await callApi("/v2beta1/vocabularyPhrases", { method: "POST", body });
      return await queries.invalidateQueries({ queryKey: ["vocabulary"] });
    },
    onSuccess: () => {
      const undo =
        edited &&
        (() => changePhrase(queries, edited.name, requestOf(draftOf(edited, edited.languageCode))));
      notify(t(vocabularyText.saved)(draft.phrase.trim()), undo);
      onClose();
    },
  });
  const isEmpty = draft.phrase.trim() === "";
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (!isEmpty && !save.isPending) save.mutate();
  };
  return (
    <DialogBox
      title={t(edited ? vocabularyText.edit : vocabularyText.add)}
      isOpen
      onClose={onClose}
      isLocked={save.isPending}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        <PhraseFields
          draft={draft}
          onChange={setDraft}
          error={save.error}
          isMissing={isChecked && isEmpty}
        />
        {save.error && !areAllInFields(save.error, shownFields) && (
          <ProblemNote error={save.error} own={vocabularyProblems} />
        )}
        <FormActions text={t(commonText.save)} isPending={save.isPending} onClose={onClose} />
      </form>
    </DialogBox>
  );
}
