import "./chip.css";

/**
 * A chip that can be pressed. `label` names the purpose. With `isRemovable`, the chip shows a ×.
 */
export function ChipButton({
  text,
  label,
  onPress,
  isRemovable = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly onPress: () => void;
  readonly isRemovable?: boolean;
}) {
  return (
    <button
      type="button"
      className="chip pressable"
      dir="auto"
      aria-label={label}
      onClick={onPress}
    >
      {text}
      {isRemovable && <span aria-hidden="true"> ×</span>}
    </button>
  );
}
