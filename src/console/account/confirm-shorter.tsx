import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { settingsText } from "../text/account-settings.ts";
import { useText } from "../text/language.tsx";
import { isShorter } from "./retention.ts";

/** How long the account keeps recordings and transcripts, in days; 0: always. */
interface Kept {
  readonly mediaRetentionDays: number;
  readonly transcriptRetentionDays: number;
}

/** Asks before a shorter retention deletes data. */
export function ConfirmShorter({
  values: { mediaRetentionDays: media, transcriptRetentionDays: kept },
  from,
  isPending,
  error,
  onConfirm,
  onClose,
}: {
  readonly values: Kept;
  readonly from: Kept;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <DialogBox title={t(settingsText.confirmTitle)} isOpen onClose={onClose} isLocked={isPending}>
      {isShorter(media, from.mediaRetentionDays) && <p>{t(settingsText.confirmMedia)(media)}</p>}
      {isShorter(kept, from.transcriptRetentionDays) && (
        <p>{t(settingsText.confirmTranscripts)(kept)}</p>
      )}
      {error && <ProblemNote error={error} />}
      <DangerActions
        text={t(settingsText.confirm)}
        isPending={isPending}
        onConfirm={onConfirm}
        onClose={onClose}
      />
    </DialogBox>
  );
}
