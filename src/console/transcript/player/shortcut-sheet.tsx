import { useContext } from "react";
import { SessionContext } from "../../api/use-session.ts";
import { Button } from "../../parts/button.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { loadLater } from "../../parts/load-later.tsx";
import { PageKeyList } from "../../commands/page-key-list.tsx";
import { SingleKeysSwitch } from "../../commands/single-keys-switch.tsx";
import { commandsText } from "../../text/commands.ts";
import { commonText } from "../../text/common.ts";
import { editKeysText } from "../../text/edit-keys.ts";
import { useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import { sheetLines } from "../shortcuts.ts";
import "../../commands/shortcut-list.css";

const EditorKeys = loadLater(() =>
  import("../edit/keys/editor-keys.tsx").then(({ EditorKeys }) => EditorKeys),
);

/**
 * The list of shortcuts, with a switch that turns off those of reading: screen readers and voice
 * control may need the letters. While the text is edited, the list has the keys of the editor too.
 */
export function ShortcutSheet({
  isEditing,
  isOn,
  error,
  onChange,
  onClose,
}: {
  readonly isEditing: boolean;
  readonly isOn: boolean;
  readonly error: Error | null;
  readonly onChange: (isOn: boolean) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const isSignedIn = useContext(SessionContext) !== undefined;
  return (
    <DialogBox title={t(transcriptText.shortcuts)} isOpen onClose={onClose} isDismissable>
      {isEditing && (
        <>
          <h3 className="shortcut-part">{t(editKeysText.inText)}</h3>
          <EditorKeys />
          <h3 className="shortcut-part">{t(editKeysText.outsideText)}</h3>
        </>
      )}
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
      {isSignedIn && (
        <>
          <h3 className="shortcut-part">{t(commandsText.everywhere)}</h3>
          <PageKeyList />
        </>
      )}
      <SingleKeysSwitch isOn={isOn} error={error} onChange={onChange} />
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.close)}</Button>
      </div>
    </DialogBox>
  );
}
