import { useEffect, useId, useRef } from "react";
import { metadataLimits } from "./metadata-limits.ts";

/**
 * A name being written where it stands: Enter and leaving the field save it once, Escape does not.
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
  /** Whether leaving the field saves nothing: after a failure its buttons do. */
  readonly keepsOnBlur: boolean;
  readonly onChange: (value: string) => void;
  readonly onSave: (value: string, byKey: boolean) => void;
  readonly onCancel: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const hintId = useId();
  // A field that goes away is left, too: that saves nothing more.
  const isDone = useRef(false);
  useEffect(() => {
    isDone.current = false;
    // Whoever is elsewhere on the page when a name comes back unsaved stays there.
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
          // What an input method is still composing is not the name yet.
          if (event.nativeEvent.isComposing) return;
          if (event.key !== "Enter" && event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          isDone.current = true;
          if (event.key === "Enter") onSave(value, true);
          else onCancel();
        }}
        onBlur={({ currentTarget }) => {
          // Where the whole page steps back, as the session has ended, nobody has left the field.
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
