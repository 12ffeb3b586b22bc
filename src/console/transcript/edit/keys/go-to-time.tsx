import { useState, type FormEvent } from "react";
import { Button } from "../../../parts/button.tsx";
import { DialogBox } from "../../../parts/dialog-box.tsx";
import { TextInput } from "../../../parts/text-input.tsx";
import { commonText } from "../../../text/common.ts";
import { editKeysText } from "../../../text/edit-keys.ts";
import { useText } from "../../../text/language.tsx";
import { clockText } from "../../../text/numbers.ts";
import { readTime } from "../playing/sentence.ts";

/** Asks for a time of the recording. */
export function GoToTime({
  now,
  duration,
  onChosen,
  onClose,
}: {
  readonly now: number;
  /** The duration of the recording in seconds; 0 if it is unknown. */
  readonly duration: number;
  readonly onChosen: (seconds: number) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const [typed, setTyped] = useState(clockText(now));
  const [isSent, setSent] = useState(false);
  const seconds = readTime(typed);
  const isBeyond = seconds !== undefined && duration > 0 && seconds > duration;
  const problem =
    seconds === undefined
      ? t(editKeysText.notATime)
      : isBeyond
        ? t(editKeysText.timeBeyond)(clockText(duration))
        : undefined;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setSent(true);
    if (seconds !== undefined && !isBeyond) onChosen(seconds);
  };
  return (
    <DialogBox title={t(editKeysText.goToTime)} isOpen onClose={onClose} isDismissable>
      <form onSubmit={send}>
        <TextInput
          label={t(editKeysText.time)}
          hint={t(editKeysText.timeHint)}
          value={typed}
          onChange={setTyped}
          problem={isSent ? problem : undefined}
        />
        <div className="dialog-actions">
          <Button onPress={onClose}>{t(commonText.cancel)}</Button>
          <Button look="primary" type="submit">
            {t(editKeysText.go)}
          </Button>
        </div>
      </form>
    </DialogBox>
  );
}
