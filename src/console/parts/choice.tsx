import { useId } from "react";
import "./fields.css";

/**
 * A choice among options. It uses the browser's own list, which phones and screen readers support.
 */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
  isLabelSeen = true,
  isDisabled = false,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly onChange: (value: Value) => void;
  readonly isLabelSeen?: boolean;
  readonly isDisabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelSeen ? undefined : "unseen"}>
        {label}
      </label>
      <select
        id={id}
        className="input"
        value={value}
        disabled={isDisabled}
        onChange={({ target }) => {
          const chosen = options.find((option) => option.value === target.value);
          if (chosen) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
}
