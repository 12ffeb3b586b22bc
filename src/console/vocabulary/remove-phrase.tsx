import { useMutation, useQueryClient } from "@tanstack/react-query";
import { callApi } from "../api/call-api.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { vocabularyProblems, vocabularyText } from "../text/vocabulary.ts";
import { addAgain, type Phrase } from "./phrases-query.ts";

/** A dialog that asks for confirmation before a phrase is deleted. */
export function RemovePhrase({
  removed,
  onClose,
}: {
  readonly removed: Phrase;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const { name, phrase } = removed;
  const remove = useMutation({
    mutationFn: () => callApi(`/v2beta1/${name}`, { method: "DELETE" }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["vocabulary"] });
      notify(t(vocabularyText.removed)(phrase), () => addAgain(queries, removed));
      onClose();
    },
  });
  return (
    <DialogBox
      title={t(vocabularyText.removeTitle)(phrase)}
      isOpen
      onClose={onClose}
      isLocked={remove.isPending}
    >
      <p>{t(vocabularyText.removeNext)}</p>
      {remove.error && <ProblemNote error={remove.error} own={vocabularyProblems} />}
      <DangerActions
        text={t(vocabularyText.remove)}
        isPending={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}
