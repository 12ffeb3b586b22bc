import { useEffect, useId, useRef } from "react";
import { metadataLimits } from "../../api/metadata-limits.ts";

/**
 * A field for editing a name in place. Enter or leaving the field saves the name once; Escape does
 * not save it.
 */
export function NameField({
  label,
  hint,
  value,
  placeholder,
  keepsOnBlur,
  onChange,
  onSave,
  onCancel,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly placeholder: string;
  /**
   * Whether leaving the field does not save. After a failure, the user saves with a button instead.
   */
  readonly keepsOnBlur: boolean;
  readonly onChange: (value: string) => void;
  readonly onSave: (value: string, byKey: boolean) => void;
  readonly onCancel: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const hintId = useId();
  // The field also loses the focus when it is removed, which must not save again.
  const isDone = useRef(false);
  useEffect(() => {
    isDone.current = false;
    // If saving failed while the focus was elsewhere on the page, the focus stays there.
    if (document.activeElement === document.body) field.current?.select();
  }, []);
  return (
    <div className="name-field">
      <input
        ref={field}
        className="input"
        aria-label={label}
        aria-describedby={hintId}
        value={value}
        placeholder={placeholder}
        maxLength={metadataLimits.speakerNameChars}
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={(event) => {
          // The key belongs to an input method that is still composing the text.
          if (event.nativeEvent.isComposing) return;
          if (event.key !== "Enter" && event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          isDone.current = true;
          if (event.key === "Enter") onSave(value, true);
          else onCancel();
        }}
        onBlur={({ currentTarget }) => {
          // The page is hidden when the session ends. This does not count as leaving the field.
          if (!currentTarget.checkVisibility()) return;
          if (!isDone.current && !keepsOnBlur) onSave(value, false);
        }}
      />
      <span id={hintId} className="hint">
        {hint}
      </span>
    </div>
  );
}
