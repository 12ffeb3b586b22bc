import { useText } from "../text/language.tsx";
import { commonText } from "../text/common.ts";
import { problemOf, type Problems } from "../text/problems.ts";
import { Button } from "./button.tsx";
import "./note.css";

/**
 * A failure, shown where it happened, with what to do next. With `onRetry`, there is also a button
 * for another attempt. Screen readers announce the failure.
 */
export function ProblemNote({
  error,
  own,
  onRetry,
}: {
  readonly error: unknown;
  /** Problems that only this page has. */
  readonly own?: Problems;
  readonly onRetry?: (() => void) | undefined;
}) {
  const t = useText();
  const { sentence, next } = problemOf(error, own);
  return (
    <div className="note problem" role="alert">
      <p>
        <strong>{t(sentence)}</strong> {t(next)}
      </p>
      {onRetry && <Button onPress={onRetry}>{t(commonText.tryAgain)}</Button>}
    </div>
  );
}
