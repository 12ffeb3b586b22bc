import type { Ref } from "react";
import { Button as AriaButton, type ButtonProps } from "react-aria-components/Button";
import "./button.css";

/**
 * Something to press. `look`: one primary a page at most; quiet where it stands among text; danger
 * for what cannot be undone. With `isPending` it keeps the keyboard and does nothing.
 */
export function Button({
  look = "plain",
  className,
  isPending = false,
  type,
  onPress,
  ...props
}: Omit<ButtonProps, "className" | "style"> & {
  readonly look?: "plain" | "primary" | "quiet" | "danger";
  readonly className?: string;
  readonly ref?: Ref<HTMLButtonElement>;
}) {
  // Not the library's own isPending: it reads the name of the button out, from a place that is
  // wrong when the button is gone.
  const pending = { "aria-disabled": true, "data-busy": true, type: "button" } as const;
  return (
    <AriaButton
      {...props}
      {...(type && { type })}
      {...(isPending ? pending : onPress && { onPress })}
      className={`button ${look} ${className ?? ""}`}
    />
  );
}
