import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import { sheetLines } from "../shortcuts.ts";
import "./shortcut-sheet.css";

/**
 * The list of shortcuts, with a switch that turns them off: screen readers and voice control may
 * need the letters.
 */
export function ShortcutSheet({
  isOn,
  onChange,
  onClose,
}: {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <DialogBox title={t(transcriptText.shortcuts)} isOpen onClose={onClose} isDismissable>
      <dl className="shortcut-sheet">
        {sheetLines.map(({ text, keys }) => (
          <div key={t(text)}>
            <dt>
              {keys.map((key, at) => {
                const name = typeof key === "string" ? key : t(key);
                return (
                  <span key={name}>
                    {at > 0 && ` ${t(transcriptText.or)} `}
                    <kbd>{name}</kbd>
                  </span>
                );
              })}
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="/console/help" target="_blank" rel="noreferrer">
          {t(commonText.helpInNewTab)}
        </a>
      </p>
      <p className="quiet">{t(transcriptText.shortcutsNote)}</p>
      <label className="shortcut-switch">
        <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />{" "}
        {t(transcriptText.shortcutsOn)}
      </label>
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.close)}</Button>
      </div>
    </DialogBox>
  );
}
