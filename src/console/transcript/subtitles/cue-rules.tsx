import { type RefObject, useRef } from "react";
import type { Cue } from "../../../cues/cue.ts";
import { subtitleRules } from "../../../cues/subtitle-rules.ts";
import { Button } from "../../parts/button.tsx";
import { useText } from "../../text/language.tsx";
import { subtitlesText } from "../../text/subtitles.ts";
import type { Playback } from "../playback.ts";
import { cueIndexOf, lastCueAt } from "./shown-cue.ts";
import { focusCue } from "./use-cue-times.ts";

/** The rules for subtitles, how many subtitles break them, and buttons that step through those. */
export function CueRules({
  root,
  cues,
  broken,
  playback,
}: {
  readonly root: RefObject<HTMLElement | null>;
  readonly cues: readonly Cue[];
  /** The indices of the cues that break a rule, in order. */
  readonly broken: readonly number[];
  readonly playback: Playback | undefined;
}) {
  const t = useText();
  const stepped = useRef<number>(undefined);
  const { lines, lineChars, charsPerSecond, msMin, msMax } = subtitleRules;
  const step = (by: 1 | -1): void => {
    const ground = root.current;
    if (!ground) return;
    const from = stepped.current ?? currentCue(ground, cues, playback);
    const next = by > 0 ? broken.find((at) => at > from) : broken.findLast((at) => at < from);
    // After the last one comes the first one.
    const to = next ?? broken.at(by > 0 ? 0 : -1);
    if (to === undefined) return;
    focusCue(ground, to);
    stepped.current = to;
  };
  const count = t(subtitlesText.count)(cues.length);
  return (
    <div className="cues-rules">
      <p>
        {count}.{" "}
        {broken.length === 0 ? t(subtitlesText.allGood) : t(subtitlesText.broken)(broken.length)}{" "}
        <span className="quiet">
          {t(subtitlesText.rules)(lines, lineChars, charsPerSecond, msMin / 1000, msMax / 1000)}
        </span>
      </p>
      {broken.length > 0 && (
        <div className="cues-steps">
          <Button onPress={() => step(-1)}>{t(subtitlesText.previousBroken)}</Button>
          <Button onPress={() => step(1)}>{t(subtitlesText.nextBroken)}</Button>
        </div>
      )}
    </div>
  );
}

/** The cue from which the steps begin: the focused one, or the one at the place of the playback. */
function currentCue(root: Element, cues: readonly Cue[], playback: Playback | undefined): number {
  const { activeElement } = document;
  const focused = activeElement ? cueIndexOf(root, activeElement) : undefined;
  if (focused !== undefined) return focused;
  return playback?.state.isBegun ? lastCueAt(cues, playback.place * 1000) : -1;
}
