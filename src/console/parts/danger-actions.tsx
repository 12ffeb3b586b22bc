import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { Button } from "./button.tsx";

/**
 * The buttons of a confirmation dialog for an action that cannot be undone. Cancel is first and has
 * the focus.
 */
export function DangerActions({
  text,
  isPending,
  onConfirm,
  onClose,
}: {
  /** The name of the action, as shown on the button that opened the dialog. */
  readonly text: string;
  readonly isPending: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <div className="dialog-actions">
      <Button
        onPress={onClose}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- Cancel is the default for actions that cannot be undone
        autoFocus
      >
        {t(commonText.cancel)}
      </Button>
      <Button look="danger" onPress={onConfirm} isPending={isPending}>
        {text}
      </Button>
    </div>
  );
}
