import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";

/**
 * A dialog that asks for confirmation before unsaved words are lost, because the user leaves the
 * page or starts over.
 */
export function DiscardDialog({
  isLeaving,
  onSave,
  onClose,
  onDiscard,
}: {
  readonly isLeaving: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
  readonly onDiscard: () => void;
}) {
  const t = useText();
  return (
    <DialogBox
      title={t(isLeaving ? liveText.leaveTitle : liveText.startOverTitle)}
      isOpen
      onClose={onClose}
    >
      <p>{t(isLeaving ? liveText.leaveMeaning : liveText.startOverMeaning)}</p>
      <div className="dialog-actions">
        <Button look="danger" onPress={onDiscard}>
          {t(isLeaving ? liveText.leave : liveText.discard)}
        </Button>
        <Button onPress={onClose}>{t(isLeaving ? liveText.stay : commonText.cancel)}</Button>
        <Button look="primary" onPress={onSave}>
          {t(liveText.saveAs)}
        </Button>
      </div>
    </DialogBox>
  );
}
