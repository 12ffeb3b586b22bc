import { Choice } from "../../parts/choice.tsx";
import { useLanguage, useText } from "../../text/language.tsx";
import { numberText } from "../../text/numbers.ts";
import { transcriptText } from "../../text/transcript.ts";
import { rates, usePlaybackState, type Playback } from "../playback.ts";

/** The choice of the playback speed, which does not change the pitch. */
export function Speed({ playback }: { readonly playback: Playback }) {
  const t = useText();
  const { language } = useLanguage();
  const { rate } = usePlaybackState(playback);
  return (
    <Choice
      label={t(transcriptText.speed)}
      isLabelSeen={false}
      value={String(rate)}
      options={rates.map((value) => ({
        value: String(value),
        text: `${numberText(language, value, decimalsOf(value))}×`,
      }))}
      onChange={(chosen) => playback.setRate(Number(chosen))}
    />
  );
}

function decimalsOf(value: number): number {
  return (String(value).split(".")[1] ?? "").length;
}
