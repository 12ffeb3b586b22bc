import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ShareJson } from "../../../gen/hlust/transcripts/v1alpha1/share_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { DangerActions } from "../../parts/danger-actions.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { useText } from "../../text/language.tsx";
import { sharesText } from "../../text/shares.ts";
import { shareDialogText } from "../../text/share-dialogs.ts";
import { sharesQuery } from "./shares-query.ts";

/** A dialog that asks for confirmation before a link is revoked. */
export function RevokeDialog({
  name,
  share,
  onClose,
}: {
  readonly name: string;
  readonly share: ShareJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const revoke = useMutation({
    mutationFn: () => deleteShare(share),
    onSuccess: () => {
      void queries.invalidateQueries(sharesQuery(name));
      notify(t(shareDialogText.revoked));
      onClose();
    },
  });
  return (
    <DialogBox
      title={t(shareDialogText.revokeTitle)}
      isOpen
      onClose={onClose}
      isDismissable
      isLocked={revoke.isPending}
    >
      <p>{t(shareDialogText.revokeNext)}</p>
      {revoke.error && <ProblemNote error={revoke.error} />}
      <DangerActions
        text={t(sharesText.revoke)}
        isPending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}

async function deleteShare({ name }: ShareJson): Promise<void> {
  try {
    await callApi<object>(`/v1alpha1/${name}`, { method: "DELETE" });
  } catch (error) {
    // The link ended already, or the response of an earlier attempt was lost.
    if (!(error instanceof ApiError && error.reason === "SHARE_NOT_FOUND")) throw error;
  }
}
