import { ApiError } from "../api/api-error.ts";
import { useText } from "../text/language.tsx";
import { commonText } from "../text/common.ts";
import { problemOf, type Problems } from "../text/problems.ts";
import { Button } from "./button.tsx";
import { loadLater } from "./load-later.tsx";
import "./note.css";

const ViolationList = loadLater(() =>
  import("./violation-list.tsx").then(({ ViolationList }) => ViolationList),
);

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
  const { sentence, next, detail } = problemOf(error, own);
  // Each violation is explained, in place of what the service says of all of them.
  const violations = detail !== undefined && error instanceof ApiError ? error.violations : [];
  return (
    <div className="note problem" role="alert">
      <p>
        <strong>{t(sentence)}</strong> {t(next)}{" "}
        {violations.length === 0 && (
          <span lang="en" dir="ltr">
            {detail}
          </span>
        )}
      </p>
      {violations.length > 0 && <ViolationList violations={violations} />}
      {onRetry && <Button onPress={onRetry}>{t(commonText.tryAgain)}</Button>}
    </div>
  );
}
