import type { Ref } from "react";
import { Button as AriaButton, type ButtonProps } from "react-aria-components/Button";
import "./button.css";

/**
 * A button. `look` is `primary` at most once per page, `quiet` within text, and `danger` for
 * actions that cannot be undone. While `isPending` is true, the button keeps the focus and does
 * nothing.
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
  // The library's isPending is not used, because it announces the button's name from an element
  // that may have been removed by then.
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
