import type { ReactNode } from "react";
import { Choice } from "../parts/choice.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { settingsText } from "../text/account-settings.ts";
import { useText } from "../text/language.tsx";
import { daysOf, isShorter, type Keep, keeps, type Retention } from "./retention.ts";

/** A choice of how long something is kept. `before` is what is stored, in days, 0 for forever. */
export function RetentionField({
  label,
  hint,
  value,
  before,
  problem,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: Retention;
  readonly before: number;
  readonly problem: ReactNode;
  readonly onChange: (value: Retention) => void;
}) {
  const t = useText();
  const days = daysOf(value);
  return (
    <div className="settings-retention">
      <Choice<Keep>
        label={label}
        value={value.keep}
        options={keeps.map((keep) => ({ value: keep, text: t(settingsText.keepOf[keep]) }))}
        onChange={(keep) => onChange({ ...value, keep })}
      />
      {value.keep === "other" && (
        <TextInput
          label={`${label}: ${t(settingsText.days)}`}
          inputMode="numeric"
          autoComplete="off"
          value={value.days}
          problem={problem}
          onChange={(text) => onChange({ ...value, days: text })}
        />
      )}
      <p className="hint">{hint}</p>
      {days !== undefined && isShorter(days, before) && (
        <p className="hint failed">{t(settingsText.shorter)}</p>
      )}
    </div>
  );
}
