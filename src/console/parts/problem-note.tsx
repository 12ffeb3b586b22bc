import { useText } from "../text/language.tsx";
import { commonText } from "../text/common.ts";
import { problemOf, type Problems } from "../text/problems.ts";
import { Button } from "./button.tsx";
import "./note.css";

/**
 * A failure where it happened: what went wrong, what to do next, and where it may pass a way to try
 * again. Read out at once.
 */
export function ProblemNote({
  error,
  own,
  onRetry,
}: {
  readonly error: unknown;
  /** What the page says of reasons that only it meets. */
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
