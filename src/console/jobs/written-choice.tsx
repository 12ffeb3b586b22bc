import { useId } from "react";
import { newJobText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";

/** The choice whether the text gets capitals, punctuation and digits. */
export function WrittenChoice({
  isWritten,
  onChange,
}: {
  readonly isWritten: boolean;
  readonly onChange: (isWritten: boolean) => void;
}) {
  const t = useText();
  const hint = useId();
  return (
    <div className="new-job-written">
      <label>
        <input
          type="checkbox"
          checked={isWritten}
          aria-describedby={hint}
          onChange={({ target }) => onChange(target.checked)}
        />
        <span>{t(newJobText.written)}</span>
      </label>
      <p className="hint" id={hint}>
        {t(newJobText.writtenHint)}
      </p>
    </div>
  );
}
