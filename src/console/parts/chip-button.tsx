import "./chip.css";

/** A chip that can be pressed, for the purpose in `label`. With `isRemovable` it shows a ×. */
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
    <button type="button" className="chip pressable" aria-label={label} onClick={onPress}>
      {text}
      {isRemovable && <span aria-hidden="true"> ×</span>}
    </button>
  );
}
