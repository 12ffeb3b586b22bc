import { TextInput } from "../parts/text-input.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { limitNames } from "./key.ts";
import { isLimit, type LimitTexts } from "./limit-texts.ts";
import "./keys.css";

/** The fields of the limits of a key. */
export function LimitFields({
  limits,
  onChange,
  isChecked,
  error,
}: {
  readonly limits: LimitTexts;
  readonly onChange: (limits: LimitTexts) => void;
  /** Whether the user has tried to submit the form. Wrong values are reported only then. */
  readonly isChecked: boolean;
  readonly error: unknown;
}) {
  const t = useText();
  return (
    <fieldset className="key-limits">
      <legend>
        {t(keysText.limitsTitle)} <span className="hint">{t(keysText.limitsHint)}</span>
      </legend>
      {limitNames.map((name) => (
        <TextInput
          key={name}
          label={t(keysText.limitOf[name])}
          inputMode="numeric"
          autoComplete="off"
          value={limits[name]}
          problem={
            isChecked && !isLimit(limits[name])
              ? t(keysText.limitWrong)
              : violationOf(error, `limits.${name}`)
          }
          onChange={(text) => onChange({ ...limits, [name]: text })}
        />
      ))}
    </fieldset>
  );
}
