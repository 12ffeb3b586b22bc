import { Button } from "../parts/button.tsx";
import { useLoadProblems } from "../parts/load-problems.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import "../parts/note.css";
import "./load-problem.css";

/** Shown while a part of the page that the user opened could not be loaded. */
export function LoadProblem() {
  const t = useText();
  const retries = useLoadProblems();
  if (retries.length === 0) return null;
  return (
    <div className="note problem load-problem" role="alert">
      <p>
        <strong>{t(commonText.partMissing)}</strong> {t(commonText.partMissingNext)}
      </p>
      <Button
        onPress={() => {
          for (const retry of retries) retry();
        }}
      >
        {t(commonText.tryAgain)}
      </Button>
    </div>
  );
}
