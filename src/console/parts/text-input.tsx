import type { ReactNode } from "react";
import { FieldError } from "react-aria-components/FieldError";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { Text } from "react-aria-components/Text";
import { TextArea } from "react-aria-components/TextArea";
import { TextField, type TextFieldProps } from "react-aria-components/TextField";
import "./fields.css";

/**
 * A text field with one line, or with several if `lines` is set. `problem` is shown below the field
 * and announced.
 */
export function TextInput({
  label,
  hint,
  problem,
  placeholder,
  lines = 1,
  ...props
}: Omit<TextFieldProps, "className" | "style" | "children"> & {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: ReactNode;
  readonly placeholder?: string | undefined;
  readonly lines?: number;
}) {
  return (
    <TextField {...props} isInvalid={problem !== undefined} className="field">
      <Label>{label}</Label>
      {lines > 1 ? (
        <TextArea
          rows={lines}
          className="input"
          dir="auto"
          {...(placeholder !== undefined && { placeholder })}
        />
      ) : (
        <Input className="input" dir="auto" {...(placeholder !== undefined && { placeholder })} />
      )}
      {hint !== undefined && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="hint failed">{problem}</FieldError>
    </TextField>
  );
}
