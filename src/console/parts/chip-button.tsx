import "./chip.css";

/**
 * A word about a thing that can be pressed; `label` says what for. With `isTaken` a press takes it
 * away.
 */
export function ChipButton({
  text,
  label,
  onPress,
  isTaken = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly onPress: () => void;
  readonly isTaken?: boolean;
}) {
  return (
    <button type="button" className="chip pressable" aria-label={label} onClick={onPress}>
      {text}
      {isTaken && <span aria-hidden="true"> ×</span>}
    </button>
  );
}
