import "./progress-line.css";

/** How far something is, 0 to 100; undefined while nobody can know. */
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
