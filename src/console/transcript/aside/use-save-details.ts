import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { metadataLimits } from "../../api/metadata-limits.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { useText } from "../../text/language.tsx";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { ChangedElsewhere } from "./change-metadata.ts";
import { type DetailsDraft, draftOf, type EditedDetails, editOf } from "./details-draft.ts";
import { useMetadataChange } from "./use-metadata-change.ts";

/** Saves the edits and closes the dialog. Without edits, only closes the dialog. */
export function useSaveDetails(
  transcript: TranscriptJson,
  {
    name,
    edited,
    onEdit,
    onClose,
  }: {
    readonly name: string;
    readonly edited: EditedDetails;
    readonly onEdit: (edited: EditedDetails) => void;
    readonly onClose: () => void;
  },
) {
  const t = useText();
  const notify = useNotify();
  const { mutate, isPending, error, reset } = useMetadataChange(name, transcript);
  const save = () => {
    const edit = editOf(edited.before, withKeyword(edited.draft, edited.keyword));
    if (!edit) {
      onClose();
      return;
    }
    mutate(edit, {
      onSuccess: () => {
        notify(t(asideDialogText.saved));
        onClose();
      },
      onError: (problem) => {
        if (problem instanceof ChangedElsewhere) {
          onEdit({ ...edited, before: draftOf(problem.current.metadata) });
        }
      },
    });
  };
  return { save, isPending, error, reset };
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
