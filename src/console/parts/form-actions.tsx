import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { Button } from "./button.tsx";

/** The buttons of a form in a dialog: one that closes the dialog, and one that sends the form. */
export function FormActions({
  text,
  isPending,
  onClose,
}: {
  /** The name of what sending the form does. */
  readonly text: string;
  readonly isPending: boolean;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <div className="dialog-actions">
      <Button onPress={onClose}>{t(commonText.cancel)}</Button>
      <Button type="submit" look="primary" isPending={isPending}>
        {text}
      </Button>
    </div>
  );
}
