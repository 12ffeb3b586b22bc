import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { useLanguage, useText } from "../text/language.tsx";
import { languageName } from "../text/language-names.ts";
import { liveText } from "../text/live.ts";
import { bytesText, numberText, spanText } from "../text/numbers.ts";
import type { LiveSession } from "./live-session.ts";
import type { LiveState } from "./live-state.ts";
import { useMicrophones } from "./use-microphones.ts";
import "./live-settings.css";

/** The choice of language and microphone, and the size of the recording. */
export function LiveSettings({
  state: { phase, languageCode, deviceId, seconds, bytes, lostSeconds },
  session,
  languages,
  onStartOver,
}: {
  readonly state: LiveState;
  readonly session: LiveSession;
  /** The languages that have a model for live recognition. */
  readonly languages: readonly string[];
  readonly onStartOver: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const microphones = useMicrophones(phase === "listening");
  const isQuiet = phase === "idle" || phase === "stopped";
  return (
    <div className="live-settings">
      <Choice
        label={t(liveText.iSpeak)}
        value={languageCode}
        options={Array.from(new Set([...languages, languageCode]), (value) => ({
          value,
          text: t(liveText.spoken)(t(languageName(value))),
        }))}
        onChange={(chosen) => session.setLanguage(chosen, "choice")}
        isDisabled={phase !== "idle"}
      />
      {microphones.length > 0 && (
        <Choice
          label={t(liveText.microphone)}
          value={deviceId ?? microphones[0]?.deviceId ?? ""}
          options={microphones.map(({ deviceId: value, label }, at) => ({
            value,
            text: label || t(liveText.microphoneUnnamed)(at + 1),
          }))}
          onChange={(chosen) => void session.choose(chosen)}
          isDisabled={!isQuiet && phase !== "listening"}
        />
      )}
      {bytes > 0 && (
        <p className="live-kept">
          {t(liveText.recorded)(spanText(language, seconds), bytesText(language, bytes))}
          {lostSeconds > 0 && (
            <strong>{t(liveText.lost)(numberText(language, lostSeconds, 2))}</strong>
          )}
          {isQuiet && (
            <Button look="quiet" onPress={onStartOver}>
              {t(liveText.startOver)}
            </Button>
          )}
        </p>
      )}
    </div>
  );
}
