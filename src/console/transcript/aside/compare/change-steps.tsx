import { Button } from "../../../parts/button.tsx";
import { asideDialogText } from "../../../text/aside-dialogs.ts";
import { numberText } from "../../../text/numbers.ts";
import { useLanguage, useText } from "../../../text/language.tsx";

/**
 * Buttons for the previous and the next change, labeled with their keys. `at` is the index of the
 * current change; it is -1 before the first change.
 */
export function ChangeSteps({
  at,
  count,
  hasMore,
  onPrevious,
  onNext,
}: {
  readonly at: number;
  readonly count: number;
  readonly hasMore: boolean;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const of = `${numberText(language, count)}${hasMore ? "+" : ""}`;
  return (
    <div className="change-steps">
      <output className="quiet">
        {at < 0
          ? t(asideDialogText.places)(count, hasMore)
          : t(asideDialogText.changeAt)(at + 1, of)}
      </output>
      <Button isDisabled={at <= 0} onPress={onPrevious}>
        {t(asideDialogText.previousChange)} <kbd aria-hidden="true">P</kbd>
      </Button>
      <Button isDisabled={at + 1 >= count && !hasMore} onPress={onNext}>
        {t(asideDialogText.nextChange)} <kbd aria-hidden="true">N</kbd>
      </Button>
    </div>
  );
}
