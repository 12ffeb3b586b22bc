import { editKeysText as texts } from "../../../text/edit-keys.ts";
import { useText } from "../../../text/language.tsx";
import { chordText } from "./chord-text.ts";
import { commandGroups } from "./command-groups.ts";
import { keysOf } from "./command-table.ts";
import { activeKeys } from "./settings.ts";
import { useEditSettings } from "./use-edit-settings.ts";

/** The keys of the editor as the user has chosen them, for the sheet of shortcuts. */
export function EditorKeys() {
  const t = useText();
  const { settings } = useEditSettings();
  const chosen = activeKeys(settings);
  return (
    <>
      <p className="quiet">{t(texts.fixedKeys)}</p>
      {commandGroups.map(({ title, commands }) => (
        <section key={title.en} className="shortcut-group" aria-label={t(title)}>
          <h4>{t(title)}</h4>
          <dl className="shortcut-sheet">
            {commands.map((id) => (
              <div key={id}>
                <dt>
                  {keysOf(id, chosen).map((chord) => (
                    <kbd key={chord}>{chordText(chord)}</kbd>
                  ))}
                  {keysOf(id, chosen).length === 0 && t(texts.noKey)}
                </dt>
                <dd>{t(texts[id])}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </>
  );
}
