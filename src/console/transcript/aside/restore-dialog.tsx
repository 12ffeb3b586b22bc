import { useMutation } from "@tanstack/react-query";
import type {
  TranscriptJson,
  VersionJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { commonText } from "../../text/common.ts";
import { when } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { useNow } from "../../text/use-now.ts";
import { useChanged } from "./use-changed.ts";
import { useVersionAddress } from "./version-address.ts";
import { useVersions } from "./use-versions.ts";

/** A dialog that asks for confirmation before a version is restored on top of `newest`. */
export function RestoreDialog({
  name,
  version,
  newest,
  onClose,
}: {
  readonly name: string;
  readonly version: VersionJson | undefined;
  readonly newest: string | undefined;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const notify = useNotify();
  const changed = useChanged(name);
  const { refetch } = useVersions(name);
  const [, go] = useVersionAddress();
  const restore = useMutation({
    mutationFn: () =>
      callApi<TranscriptJson>(`/v1alpha1/${name}:restore`, {
        method: "POST",
        body: { version: version?.name },
        ...(newest !== undefined && { headers: { "if-match": newest } }),
      }),
    onSuccess: (current) => {
      changed(current);
      close();
      go({ version: undefined });
      notify(t(asideDialogText.restored));
    },
    // The list then shows the newer version, and the user decides whether to press the button
    // again.
    onError: (error) => {
      if (isStale(error)) void refetch();
    },
  });
  const close = () => {
    restore.reset();
    onClose();
  };
  const date = new Date(version?.creationTime ?? 0);
  return (
    <DialogBox
      title={t(asideDialogText.restoreTitle)}
      isOpen={version !== undefined}
      isDismissable
      isLocked={restore.isPending}
      onClose={close}
    >
      <p>{t(asideDialogText.restoreQuestion)(when(language, date, now))}</p>
      {isStale(restore.error) && (
        <p className="failed" role="alert">
          {t(asideDialogText.restoreStale)}
        </p>
      )}
      {restore.error && !isStale(restore.error) && <ProblemNote error={restore.error} />}
      <div className="dialog-actions">
        <Button onPress={close}>{t(commonText.cancel)}</Button>
        <Button look="primary" isPending={restore.isPending} onPress={() => restore.mutate()}>
          {t(asideText.restore)}
        </Button>
      </div>
    </DialogBox>
  );
}

function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.reason === "VERSION_STALE";
}
