import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { charCount, metadataLimits } from "../../api/metadata-limits.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { ChangedElsewhere } from "./change-metadata.ts";
import { type DetailsDraft, draftOf, type EditedDetails, editOf } from "./details-draft.ts";
import { EditConflict } from "./edit-conflict.tsx";
import { KeywordField } from "./keyword-field.tsx";
import { useMetadataChange } from "./use-metadata-change.ts";

interface Props {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly edited: EditedDetails;
  readonly onEdit: (edited: EditedDetails) => void;
  /** Called when the details have been saved or the user cancels. */
  readonly onClose: () => void;
}

/** The form of the details dialog. After a failure, the edits stay in its fields. */
export function DetailsForm(props: Props) {
  const { edited, onEdit, onClose } = props;
  const t = useText();
  const { draft, keyword } = edited;
  const setDraft = (changed: Partial<DetailsDraft>) =>
    onEdit({ ...edited, draft: { ...draft, ...changed } });
  const problems = useLengthProblems(edited);
  const isWrong = Object.values(problems).some((problem) => problem !== undefined);
  const { save, isPending, error } = useSaving(props);
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

/** Saves the edits and closes the dialog. Without edits, only closes the dialog. */
function useSaving({ transcript, name, edited, onEdit, onClose }: Props) {
  const t = useText();
  const notify = useNotify();
  const change = useMetadataChange(name, transcript);
  const save = () => {
    const edit = editOf(edited.before, withKeyword(edited.draft, edited.keyword));
    if (!edit) {
      onClose();
      return;
    }
    change.mutate(edit, {
      onSuccess: () => {
        notify(t(asideDialogText.saved));
        onClose();
      },
      onError: (error) => {
        if (error instanceof ChangedElsewhere) {
          onEdit({ ...edited, before: draftOf(error.current.metadata) });
        }
      },
    });
  };
  return { save, isPending: change.isPending, error: change.error };
}

/** Adds a keyword that the user typed but did not add. */
function withKeyword(draft: DetailsDraft, typed: string): DetailsDraft {
  const keyword = typed.normalize("NFC").trim();
  const { keywords } = draft;
  const isNew = keyword !== "" && !keywords.includes(keyword);
  return isNew && keywords.length < metadataLimits.keywords
    ? { ...draft, keywords: [...keywords, keyword] }
    : draft;
}
