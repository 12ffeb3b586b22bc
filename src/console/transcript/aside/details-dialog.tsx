import { useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { draftOf, type WrittenDetails } from "./details-draft.ts";
import { DetailsForm } from "./details-form.tsx";

/** Title, description and keywords of a transcript, to be changed. */
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
  // Escape closes the dialog, but what was written is there when it is opened again.
  const [written, setWritten] = useState<WrittenDetails>();
  const begin = () => {
    const before = draftOf(transcript.metadata);
    return { before, draft: before, keyword: "" };
  };
  return (
    <DialogBox title={t(asideText.editTitle)} isOpen={isOpen} onClose={onClose}>
      <DetailsForm
        transcript={transcript}
        name={name}
        written={written ?? begin()}
        onWrite={setWritten}
        onClose={() => {
          setWritten(undefined);
          onClose();
        }}
      />
    </DialogBox>
  );
}
