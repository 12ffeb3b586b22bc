import { type RefObject, useDeferredValue, useLayoutEffect, useMemo, useRef } from "react";
import { brokenRules } from "../../../cues/broken-rules.ts";
import type { Cue } from "../../../cues/cue.ts";
import type { TimedWords } from "../../../cues/timed-words.ts";
import { useText } from "../../text/language.tsx";
import { subtitlesText } from "../../text/subtitles.ts";
import { restoreScroll } from "../edit/scroll-place.ts";
import { FollowButton } from "../follow-button.tsx";
import type { Playback } from "../playback.ts";
import { CuePart, type Speakers } from "./cue-part.tsx";
import { CueRules } from "./cue-rules.tsx";
import { cuesPerPart, lastCueAt } from "./shown-cue.ts";
import { useCueTimes } from "./use-cue-times.ts";
import { useCues } from "./use-cues.ts";
import { useShownCue } from "./use-shown-cue.ts";
import "./subtitles.css";

/** The number of parts that are rendered first, while the others follow. */
const firstParts = 3;

/** What the subtitles of a text need. The text may change while they are shown. */
export interface SubtitlesProps {
  /** Receives the element whose children are parts of subtitles. */
  readonly root: RefObject<HTMLDivElement | null>;
  /** The text. Segments that do not change stay the same objects. */
  readonly segments: readonly TimedWords[];
  /** The length of the recording; Infinity if unknown. */
  readonly limitMs: number;
  readonly speakers: Speakers;
  readonly languageCode: string;
  readonly playback: Playback | undefined;
  /** The element in the picture that shows the current subtitle. */
  readonly caption: RefObject<HTMLElement | null>;
  /** The address of the subtitles, to which seconds are appended. */
  readonly linkTo: string;
  /** The time that is brought into view first; undefined for the start. */
  readonly startMs: number | undefined;
}

/**
 * The text as subtitles, cut as the exported files are (src/cues), with the rules that they break.
 */
export function Subtitles({ segments, limitMs, ...props }: SubtitlesProps) {
  const t = useText();
  const cues = useCues(segments, limitMs);
  return (
    <section className="cues" aria-label={t(subtitlesText.subtitles)} aria-busy={!cues}>
      {!cues ? (
        <p className="quiet">{t(subtitlesText.cutting)}</p>
      ) : cues.length === 0 ? (
        <p className="quiet">{t(subtitlesText.none)}</p>
      ) : (
        <CueList {...props} cues={cues} />
      )}
    </section>
  );
}

function CueList({
  root,
  cues,
  speakers,
  languageCode,
  playback,
  caption,
  linkTo,
  startMs,
}: Omit<SubtitlesProps, "segments" | "limitMs"> & { readonly cues: readonly Cue[] }) {
  const parts = Math.ceil(cues.length / cuesPerPart);
  const isWhole = startMs !== undefined && startMs > 0;
  const shown = useDeferredValue(parts, isWhole ? parts : Math.min(parts, firstParts));
  const broken = useMemo(
    () => cues.flatMap((cue, at) => (brokenRules(cue).length > 0 ? [at] : [])),
    [cues],
  );
  useStart(root, cues, isWhole ? startMs : undefined);
  const { isFollowing, follow } = useShownCue(root, cues, { playback, caption, shown });
  useCueTimes(root, cues, playback);
  return (
    <>
      <CueRules root={root} cues={cues} broken={broken} playback={playback} />
      <div className="cues-text" ref={root} lang={languageCode}>
        {Array.from({ length: Math.min(shown, parts) }, (_, part) => {
          const first = part * cuesPerPart;
          return (
            <CuePart
              key={first}
              cues={cues.slice(first, first + cuesPerPart)}
              first={first}
              speakerBefore={cues[first - 1]?.speakerId ?? ""}
              speakers={speakers}
              linkTo={playback && linkTo}
            />
          );
        })}
      </div>
      {playback && !isFollowing && <FollowButton playback={playback} onPress={follow} />}
    </>
  );
}

/** The distance from the top of the screen at which the first place is shown, in pixels. */
const startTop = 160;

/** Brings the subtitle of a time into view, once. */
function useStart(
  root: RefObject<HTMLDivElement | null>,
  cues: readonly Cue[],
  startMs: number | undefined,
): void {
  const start = useRef({ cues, startMs });
  useLayoutEffect(() => {
    const { cues, startMs } = start.current;
    if (!root.current || startMs === undefined) return;
    const paragraph = Math.max(0, lastCueAt(cues, startMs));
    restoreScroll(root.current, { partHeights: [], paragraph, top: startTop });
  }, [root]);
}
