import { Button } from "../../../parts/button.tsx";
import { SaidDetail } from "../../../parts/said-text.tsx";
import { commonText } from "../../../text/common.ts";
import { clockTime, longDate } from "../../../text/dates.ts";
import { useLanguage, useText } from "../../../text/language.tsx";
import { problemOf } from "../../../text/problems.ts";
import { draftsText } from "../../../text/transcript-drafts.ts";
import type { UnopenedDraft } from "./find-draft.ts";

/** Says that the text is not edited, because its draft cannot be opened for now. */
export function UnopenedNote({
  draft: { changedAt, error },
  onRetry,
}: {
  readonly draft: UnopenedDraft;
  readonly onRetry: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { sentence, next, detail } = problemOf(error);
  return (
    <div className="note problem" role="alert">
      <p>
        <strong>
          {t(draftsText.unopened)(`${longDate(language, changedAt)} ${clockTime(changedAt)}`)}
        </strong>{" "}
        {t(sentence)} {t(next)} {t(draftsText.untouched)}
        <SaidDetail detail={detail} />
      </p>
      <Button onPress={onRetry}>{t(commonText.tryAgain)}</Button>
    </div>
  );
}
