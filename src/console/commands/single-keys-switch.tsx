import { ProblemNote } from "../parts/problem-note.tsx";
import { commandsText } from "../text/commands.ts";
import { useText } from "../text/language.tsx";

/** The switch that turns shortcuts of a single key off and on, on all pages (WCAG 2.1.4). */
export function SingleKeysSwitch({
  isOn,
  error,
  onChange,
}: {
  readonly isOn: boolean;
  readonly error: Error | null;
  readonly onChange: (isOn: boolean) => void;
}) {
  const t = useText();
  return (
    <>
      <label className="shortcut-switch">
        <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />{" "}
        {t(commandsText.singleKeysOn)}
      </label>
      <p className="quiet">{t(commandsText.singleKeysNote)}</p>
      {error && <ProblemNote error={error} />}
    </>
  );
}
