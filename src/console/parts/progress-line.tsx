import "./progress-line.css";

/** A progress bar. `percent` is 0 to 100, or undefined while the progress is unknown. */
export function ProgressLine({
  label,
  percent,
}: {
  readonly label: string;
  readonly percent: number | undefined;
}) {
  return (
    <progress
      className="progress"
      aria-label={label}
      max={100}
      {...(percent !== undefined && { value: percent })}
    />
  );
}
