import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { binDaysQuery, putIntoBin } from "../../transcripts/bin-calls.ts";

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
  const notify = useNotify();
  const [, navigate] = useLocation();
  const subject = metadata?.subject?.trim() || t(asideDialogText.untitled);
  const remove = useMutation({
    // A transcript that is missing was already deleted, by others or by a call whose answer was
    // lost. The result is the same, and it may be in the bin.
    mutationFn: () => putIntoBin([name]),
    onSuccess: ({ deleteTime = null }) => {
      const isInBin = deleteTime !== null;
      navigate("/transcripts", { state: { deleted: { subject, name: isInBin ? name : "" } } });
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(name) });
      void queries.invalidateQueries({ queryKey: ["transcripts"] });
      void queries.invalidateQueries({ queryKey: ["bin"] });
      const message = isInBin
        ? asideDialogText.binnedTranscript
        : asideDialogText.removedTranscript;
      notify(t(message)(subject));
    },
  });
  const { data: days, error, refetch } = useQuery({ ...binDaysQuery, enabled: isOpen });
  const close = () => {
    remove.reset();
    onClose();
  };
  return (
    <DialogBox
      title={t(asideDialogText.removeTitle)(subject)}
      isOpen={isOpen}
      isDismissable
      isLocked={remove.isPending}
      onClose={close}
    >
      <p>
        {days === undefined && !error && t(commonText.loading)}
        {days === 0 &&
          t(uri === "" ? asideDialogText.removeQuestionText : asideDialogText.removeQuestion)}
        {days !== undefined && days > 0 && t(asideDialogText.binQuestion)(days)}
      </p>
      {error && days === undefined && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {remove.error && <ProblemNote error={remove.error} />}
      <div className="dialog-actions">
        <Button onPress={close}>{t(commonText.cancel)}</Button>
        <Button
          look="danger"
          isPending={remove.isPending || days === undefined}
          onPress={() => {
            if (!remove.isPending && days !== undefined) remove.mutate();
          }}
        >
          {t(asideDialogText.removeYes)}
        </Button>
      </div>
    </DialogBox>
  );
}
