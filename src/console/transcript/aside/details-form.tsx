import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useAnnounce } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { ChangedElsewhere } from "./change-metadata.ts";
import { Clash } from "./clash.tsx";
import { type DetailsDraft, draftOf, editOf, type WrittenDetails } from "./details-draft.ts";
import { KeywordField } from "./keyword-field.tsx";
import { charsOf, metadataLimits } from "./metadata-limits.ts";
import { useMetadataChange } from "./use-metadata-change.ts";

/** The fields of the dialog. What fails to be saved stays in them. */
export function DetailsForm({
  transcript,
  name,
  written,
  onWrite,
  onClose,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly written: WrittenDetails;
  readonly onWrite: (written: WrittenDetails) => void;
  /** Saved, or given up. */
  readonly onClose: () => void;
}) {
  const t = useText();
  const announce = useAnnounce();
  const { before, draft, keyword } = written;
  const setDraft = (changed: Partial<DetailsDraft>) =>
    onWrite({ ...written, draft: { ...draft, ...changed } });
  const change = useMetadataChange(name, transcript);
  const tooLong = (text: string, max: number) => {
    const over = charsOf(text.trim()) - max;
    return over > 0 ? t(asideText.tooLong)(over, max) : undefined;
  };
  const problems = {
    subject: tooLong(draft.subject, metadataLimits.subjectChars),
    description: tooLong(draft.description, metadataLimits.descriptionChars),
    keyword: tooLong(keyword, metadataLimits.keywordChars),
  };
  const isWrong = Object.values(problems).some((problem) => problem !== undefined);
  const save = () => {
    if (isWrong || change.isPending) return;
    const edit = editOf(before, withKeyword(draft, keyword));
    if (!edit) {
      onClose();
      return;
    }
    change.mutate(edit, {
      onSuccess: () => {
        announce(t(asideText.saved));
        onClose();
      },
      onError: (error) => {
        if (error instanceof ChangedElsewhere) {
          onWrite({ ...written, before: draftOf(error.current.metadata) });
        }
      },
    });
  };
  const { error } = change;
  return (
    <form
      className="details-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextInput
        label={t(asideText.subject)}
        value={draft.subject}
        onChange={(subject) => setDraft({ subject })}
        problem={problems.subject}
        autoComplete="off"
      />
      <TextInput
        label={t(asideText.description)}
        lines={4}
        value={draft.description}
        onChange={(description) => setDraft({ description })}
        problem={problems.description}
      />
      <KeywordField
        keywords={draft.keywords}
        typed={keyword}
        problem={problems.keyword}
        onWrite={(typed, keywords) =>
          onWrite({ ...written, keyword: typed, draft: { ...draft, keywords } })
        }
      />
      {error instanceof ChangedElsewhere && <Clash current={error.current} draft={draft} />}
      {error !== null && !(error instanceof ChangedElsewhere) && <ProblemNote error={error} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="primary" type="submit" isPending={change.isPending} isDisabled={isWrong}>
          {t(error instanceof ChangedElsewhere ? asideText.saveMine : commonText.save)}
        </Button>
      </div>
    </form>
  );
}

/** A keyword that was typed, but not added, is meant all the same. */
function withKeyword(draft: DetailsDraft, typed: string): DetailsDraft {
  const keyword = typed.normalize("NFC").trim();
  const { keywords } = draft;
  const isNew = keyword !== "" && !keywords.includes(keyword);
  return isNew && keywords.length < metadataLimits.keywords
    ? { ...draft, keywords: [...keywords, keyword] }
    : draft;
}
