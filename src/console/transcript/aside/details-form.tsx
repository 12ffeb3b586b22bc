import { charCount, metadataLimits } from "../../api/metadata-limits.ts";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { ChangedElsewhere } from "./change-metadata.ts";
import type { DetailsDraft, EditedDetails } from "./details-draft.ts";
import { EditConflict } from "./edit-conflict.tsx";
import { KeywordField } from "./keyword-field.tsx";

interface Props {
  readonly edited: EditedDetails;
  readonly onEdit: (edited: EditedDetails) => void;
  readonly save: () => void;
  readonly isPending: boolean;
  /** Why the edits were not saved. */
  readonly error: Error | null;
  readonly onClose: () => void;
}

/** The form of the details dialog. After a failure, the edits stay in its fields. */
export function DetailsForm({ edited, onEdit, save, isPending, error, onClose }: Props) {
  const t = useText();
  const { draft, keyword } = edited;
  const setDraft = (changed: Partial<DetailsDraft>) =>
    onEdit({ ...edited, draft: { ...draft, ...changed } });
  const problems = useLengthProblems(edited);
  const isWrong = Object.values(problems).some((problem) => problem !== undefined);
  return (
    <form
      className="details-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong && !isPending) save();
      }}
    >
      <TextInput
        label={t(asideDialogText.subject)}
        value={draft.subject}
        onChange={(subject) => setDraft({ subject })}
        problem={problems.subject}
        autoComplete="off"
      />
      <TextInput
        label={t(asideDialogText.description)}
        lines={4}
        value={draft.description}
        onChange={(description) => setDraft({ description })}
        problem={problems.description}
      />
      <KeywordField
        keywords={draft.keywords}
        typed={keyword}
        problem={problems.keyword}
        onChange={(typed, keywords) =>
          onEdit({ ...edited, keyword: typed, draft: { ...draft, keywords } })
        }
      />
      {error instanceof ChangedElsewhere && <EditConflict current={error.current} draft={draft} />}
      {error !== null && !(error instanceof ChangedElsewhere) && <ProblemNote error={error} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="primary" type="submit" isPending={isPending} isDisabled={isWrong}>
          {t(error instanceof ChangedElsewhere ? asideText.saveMine : commonText.save)}
        </Button>
      </div>
    </form>
  );
}

/** Returns the problems of the fields that are too long. */
function useLengthProblems({ draft, keyword }: EditedDetails) {
  const t = useText();
  const tooLong = (text: string, max: number) => {
    const over = charCount(text.trim()) - max;
    return over > 0 ? t(asideDialogText.tooLong)(over, max) : undefined;
  };
  return {
    subject: tooLong(draft.subject, metadataLimits.subjectChars),
    description: tooLong(draft.description, metadataLimits.descriptionChars),
    keyword: tooLong(keyword, metadataLimits.keywordChars),
  };
}
