import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { Button } from "./button.tsx";

/**
 * The answers to a question about what cannot be undone: the way back comes first, and has the
 * keyboard.
 */
export function DangerActions({
  text,
  isPending,
  onConfirm,
  onClose,
}: {
  /** What is done, as on the button that asked. */
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
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the way back comes before what cannot be undone
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
