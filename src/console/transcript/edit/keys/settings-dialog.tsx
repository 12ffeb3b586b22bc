import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { DialogBox } from "../../../parts/dialog-box.tsx";
import { ProblemNote } from "../../../parts/problem-note.tsx";
import { commonText } from "../../../text/common.ts";
import { editKeysText as texts } from "../../../text/edit-keys.ts";
import { useLanguage, useText } from "../../../text/language.tsx";
import { numberText } from "../../../text/numbers.ts";
import { commandGroups } from "./command-groups.ts";
import { KeyChoice } from "./key-choice.tsx";
import { defaultSettings, type EditSettings, type WhileTyping } from "./settings.ts";
import "./settings-dialog.css";

/** What a user can choose for editing, and all keys, which can be changed here. */
export function SettingsDialog({
  settings,
  error,
  onChange,
  onClose,
}: {
  readonly settings: EditSettings;
  readonly error: Error | null;
  readonly onChange: (changed: Partial<EditSettings>) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <DialogBox title={t(texts.title)} isOpen onClose={onClose} isDismissable>
      {error && <ProblemNote error={error} />}
      <p>
        <a href="/console/help" target="_blank" rel="noreferrer">
          {t(commonText.helpInNewTab)}
        </a>
      </p>
      <Choices settings={settings} onChange={onChange} />
      <p className="quiet">{t(texts.fixedKeys)}</p>
      {commandGroups.map(({ title, commands }) => (
        <section key={title.en} className="key-group" aria-label={t(title)}>
          <h3>{t(title)}</h3>
          <dl>
            {commands.map((id) => (
              <KeyChoice
                key={id}
                id={id}
                chosen={settings.keys}
                onChange={(keys) => onChange({ keys })}
              />
            ))}
          </dl>
        </section>
      ))}
      <div className="dialog-actions">
        <Button onPress={() => onChange(defaultSettings)}>{t(texts.resetAll)}</Button>
        <Button look="primary" onPress={onClose}>
          {t(commonText.close)}
        </Button>
      </div>
    </DialogBox>
  );
}

function Choices({
  settings,
  onChange,
}: {
  readonly settings: EditSettings;
  readonly onChange: (changed: Partial<EditSettings>) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const typing: readonly { readonly value: WhileTyping; readonly text: string }[] = [
    { value: "play", text: t(texts.typingPlays) },
    { value: "pause", text: t(texts.typingPauses) },
    { value: "slow", text: t(texts.typingSlows) },
  ];
  const seconds = [0, 0.5, 1, 1.5, 2, 3, 4, 5];
  const percents = [0, 50, 60, 70, 80, 90, 95];
  return (
    <div className="edit-choices">
      <Choice
        label={t(texts.jumpBack)}
        value={String(settings.jumpBackSeconds)}
        options={seconds.map((value) => ({
          value: String(value),
          text: t(texts.seconds)(numberText(language, value, value % 1 === 0 ? 0 : 1)),
        }))}
        onChange={(value) => onChange({ jumpBackSeconds: Number(value) })}
      />
      <Choice
        label={t(texts.whileTyping)}
        value={settings.whileTyping}
        options={typing}
        onChange={(whileTyping) => onChange({ whileTyping })}
      />
      <Choice
        label={t(texts.unclearBelow)}
        value={String(Math.round(settings.unclearBelow * 100))}
        options={percents.map((value) => ({
          value: String(value),
          text: value === 0 ? t(texts.off) : t(texts.percent)(numberText(language, value, 0)),
        }))}
        onChange={(value) => onChange({ unclearBelow: Number(value) / 100 })}
      />
      <Switch
        label={t(texts.underlinesUnclear)}
        isOn={settings.underlinesUnclear}
        onChange={(underlinesUnclear) => onChange({ underlinesUnclear })}
      />
      <Switch
        label={t(texts.checksSpelling)}
        isOn={settings.checksSpelling}
        onChange={(checksSpelling) => onChange({ checksSpelling })}
      />
      <Switch
        label={t(texts.tabPlays)}
        isOn={settings.tabPlays}
        onChange={(tabPlays) => onChange({ tabPlays })}
      />
    </div>
  );
}

function Switch({
  label,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label className="edit-switch">
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />{" "}
      {label}
    </label>
  );
}
