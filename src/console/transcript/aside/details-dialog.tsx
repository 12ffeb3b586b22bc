import { useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { useText } from "../../text/language.tsx";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { draftOf, type EditedDetails } from "./details-draft.ts";
import { DetailsForm } from "./details-form.tsx";
import { useSaveDetails } from "./use-save-details.ts";

/** A dialog that edits the title, description and keywords of a transcript. */
export function DetailsDialog({
  transcript,
  name,
  isOpen,
  onClose,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const t = useText();
  // Escape closes the dialog, but the edits are still there when it is opened again.
  const [edited, setEdited] = useState<EditedDetails>();
  const begin = () => {
    const before = draftOf(transcript.metadata);
    return { before, draft: before, keyword: "" };
  };
  const close = () => {
    reset();
    onClose();
  };
  const end = () => {
    setEdited(undefined);
    close();
  };
  const shown = edited ?? begin();
  const { reset, ...saving } = useSaveDetails(transcript, {
    name,
    edited: shown,
    onEdit: setEdited,
    onClose: end,
  });
  return (
    <DialogBox
      title={t(asideDialogText.editTitle)}
      isOpen={isOpen}
      onClose={close}
      isLocked={saving.isPending}
    >
      <DetailsForm {...saving} edited={shown} onEdit={setEdited} onClose={end} />
    </DialogBox>
  );
}
