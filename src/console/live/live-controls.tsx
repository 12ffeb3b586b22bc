import { Button as AriaButton } from "react-aria-components/Button";
import { Button } from "../parts/button.tsx";
import { useLanguage, useText } from "../text/language.tsx";
import { languageName } from "../text/language-names.ts";
import { liveText } from "../text/live.ts";
import { clockText, numberText } from "../text/numbers.ts";
import type { Delay } from "./delays.ts";
import type { LiveSession } from "./live-session.ts";
import { hasUnsaved, type LiveState } from "./live-state.ts";
import "./live-controls.css";

/** The button that starts and stops the recording, the status, and the delays. */
export function LiveControls({
  state,
  session,
  onSave,
}: {
  readonly state: LiveState;
  readonly session: LiveSession;
  readonly onSave: () => void;
}) {
  const t = useText();
  const { phase, languageCode, seconds, savedName } = state;
  const isOn = phase === "listening" || phase === "opening" || phase === "closing";
  return (
    <div className="live-controls">
      <AriaButton
        className={isOn ? "live-button on" : "live-button"}
        aria-label={t(
          isOn ? liveText.stop : phase === "stopped" ? liveText.continue : liveText.listen,
        )}
        isDisabled={savedName !== undefined || phase === "closing"}
        onPress={() => void (isOn ? session.stop() : session.start())}
      >
        <i />
      </AriaButton>
      <p className="live-status">
        <span>
          {t(statusOf(state))}
          {` · ${t(languageName(languageCode))}`}
        </span>
        <span className="live-facts">
          {phase !== "idle" && clockText(seconds)}
          {isOn && <span className="live-key">{t(liveText.escStops)}</span>}
        </span>
      </p>
      {hasUnsaved(state) && (
        <Button onPress={onSave}>
          {t(savedName === undefined ? liveText.saveAs : liveText.finishSaving)}
        </Button>
      )}
      <dl className="live-delays" title={t(liveText.delayMeaning)}>
        <DelayFigure name={t(liveText.wordAfter)} delay={state.word} />
        <DelayFigure name={t(liveText.sentenceAfter)} delay={state.sentence} />
      </dl>
    </div>
  );
}

function statusOf({ phase, connection }: LiveState) {
  if (phase === "opening") return liveText.opening;
  if (connection.kind === "waiting" || connection.kind === "failed") return liveText.waiting;
  if (phase === "listening") return liveText.listening;
  if (connection.kind === "open") return liveText.finishing;
  return phase === "stopped" ? liveText.stopped : liveText.ready;
}

function DelayFigure({
  name,
  delay,
}: {
  readonly name: string;
  readonly delay: Delay | undefined;
}) {
  const t = useText();
  const { language } = useLanguage();
  const seconds = (ms: number): string => `${numberText(language, ms / 1000, 2)} s`;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {delay ? seconds(delay.medianMs) : "–"}
        {delay && <small>{` · ${t(liveText.mostWithin)} ${seconds(delay.mostMs)}`}</small>}
      </dd>
    </div>
  );
}
