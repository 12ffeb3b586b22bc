import type { useSingleKeys } from "../api/use-single-keys.ts";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { commandsText } from "../text/commands.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { PageKeyList } from "./page-key-list.tsx";
import { SingleKeysSwitch } from "./single-keys-switch.tsx";
import "./shortcut-list.css";

/** The list of the keys that work on every page, with the switch that turns single keys off. */
export function ShortcutList({
  single: { isOn, error, change },
  onClose,
}: {
  readonly single: ReturnType<typeof useSingleKeys>;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <DialogBox title={t(commandsText.shortcutsTitle)} isOpen onClose={onClose} isDismissable>
      <PageKeyList />
      <p className="quiet">{t(commandsText.morePages)}</p>
      <SingleKeysSwitch isOn={isOn} error={error} onChange={change} />
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.close)}</Button>
      </div>
    </DialogBox>
  );
}
