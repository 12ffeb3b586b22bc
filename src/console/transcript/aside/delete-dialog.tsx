import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { asideDialogText } from "../../text/aside-dialogs.ts";

/**
 * A dialog that asks for confirmation before a transcript is deleted. After that, the list is shown
 * with a note.
 */
export function DeleteDialog({
  transcript: { metadata, uri = "" },
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
  const queries = useQueryClient();
  const announce = useNotify();
  const [, navigate] = useLocation();
  const subject = metadata?.subject?.trim() || t(asideDialogText.untitled);
  const remove = useMutation({
    mutationFn: () => deleteTranscript(name),
    onSuccess: () => {
      navigate("/transcripts", { state: { deleted: subject } });
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(name) });
      void queries.invalidateQueries({ queryKey: ["transcripts"] });
      announce(t(asideDialogText.removedTranscript)(subject));
    },
  });
  const close = () => {
    remove.reset();
    onClose();
  };
  return (
    <DialogBox
      title={t(asideDialogText.removeTitle)(subject)}
      isOpen={isOpen}
      isDismissable
      onClose={close}
    >
      <p>{t(uri === "" ? asideDialogText.removeQuestionText : asideDialogText.removeQuestion)}</p>
      {remove.error && <ProblemNote error={remove.error} />}
      <div className="dialog-actions">
        <Button onPress={close}>{t(commonText.cancel)}</Button>
        <Button
          look="danger"
          isPending={remove.isPending}
          onPress={() => {
            if (!remove.isPending) remove.mutate();
          }}
        >
          {t(asideDialogText.removeYes)}
        </Button>
      </div>
    </DialogBox>
  );
}

async function deleteTranscript(name: string): Promise<void> {
  try {
    await callApi<object>(`/v1alpha1/${name}`, { method: "DELETE" });
  } catch (error) {
    // The transcript was already deleted, by others or by a call whose response was lost. The
    // result is the same.
    if (!(error instanceof ApiError && error.reason === "TRANSCRIPT_NOT_FOUND")) throw error;
  }
}
