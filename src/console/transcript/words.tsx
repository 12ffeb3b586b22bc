import { memo, type RefObject, useDeferredValue, useLayoutEffect, useMemo, useRef } from "react";
import type { SpeakerInfoJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useText } from "../text/language.tsx";
import { clockText } from "../text/numbers.ts";
import { transcriptText } from "../text/transcript.ts";
import { restoreScroll, type ScrollPlace } from "./edit/scroll-place.ts";
import { FollowButton } from "./follow-button.tsx";
import { paragraphsPerPart } from "./playback-highlight.ts";
import type { Playback } from "./playback.ts";
import type { Paragraph, SpokenText } from "./spoken-text.ts";
import { useListening } from "./use-listening.ts";
import { speakerName } from "./speaker-name.ts";
import { useRoving } from "./use-roving.ts";
import "./words.css";

/**
 * The number of parts that are rendered first. The user can already read them while the others
 * follow.
 */
const firstParts = 3;

type Speakers = Readonly<Record<string, SpeakerInfoJson>>;

/**
 * The text of a transcript, with speakers and times in its margin. If playback is available, it can
 * start from any word.
 */
export function Words({
  root,
  text,
  speakers,
  languageCode,
  playback,
  linkTo,
  startsAtPlace,
  place,
}: {
  /** Receives the element of the text. */
  readonly root: RefObject<HTMLDivElement | null>;
  readonly text: SpokenText;
  readonly speakers: Speakers;
  readonly languageCode: string;
  readonly playback: Playback | undefined;
  /** The address of this text, to which seconds are appended. */
  readonly linkTo: string;
  /** Whether the address has a place. */
  readonly startsAtPlace: boolean;
  /** Where the user was in the text, if it was edited until now. */
  readonly place: ScrollPlace | undefined;
}) {
  const t = useText();
  const parts = useMemo(() => partsOf(text.paragraphs), [text]);
  const shown = useDeferredValue(
    parts.length,
    place ? parts.length : Math.min(parts.length, firstParts),
  );
  const before = useRef(place);
  useLayoutEffect(() => {
    if (root.current && before.current) restoreScroll(root.current, before.current);
  }, [root]);
  const { isFollowing, follow } = useListening(root, text, { playback, shown, startsAtPlace });
  useRoving(root, text, playback);
  return (
    <section className="words" aria-label={t(transcriptText.textName)}>
      <div className="words-text" ref={root} lang={languageCode}>
        {parts.slice(0, shown).map((paragraphs, at) => (
          <Part
            key={paragraphs[0]?.firstWord}
            paragraphs={paragraphs}
            speakers={speakers}
            linkTo={playback && linkTo}
            isFirst={at === 0}
            height={place?.partHeights[at]}
          />
        ))}
      </div>
      {playback && !isFollowing && <FollowButton playback={playback} onPress={follow} />}
    </section>
  );
}

function partsOf(paragraphs: readonly Paragraph[]): (readonly Paragraph[])[] {
  return Array.from({ length: Math.ceil(paragraphs.length / paragraphsPerPart) }, (_, at) =>
    paragraphs.slice(at * paragraphsPerPart, (at + 1) * paragraphsPerPart),
  );
}

/** Some paragraphs, in reading order. */
const Part = memo(function Part({
  paragraphs,
  speakers,
  linkTo,
  isFirst,
  height,
}: {
  readonly paragraphs: readonly Paragraph[];
  readonly speakers: Speakers;
  readonly linkTo: string | undefined;
  readonly isFirst: boolean;
  /** The height in pixels that is assumed until the part is laid out, if it is known. */
  readonly height: number | undefined;
}) {
  const t = useText();
  const style = height === undefined ? {} : { containIntrinsicHeight: `auto ${height}px` };
  return (
    <div className="words-part" style={style}>
      {paragraphs.map((paragraph, at) => {
        const time = clockText(paragraph.start);
        const title = paragraph.isEstimated ? t(transcriptText.estimatedTime) : undefined;
        return (
          <div className="segment" key={paragraph.firstWord}>
            <div className="segment-margin">
              {paragraph.isTurn && (
                <b className="segment-speaker" dir="auto">
                  {speakerName(speakers, paragraph.speaker) ??
                    t(transcriptText.unknownSpeaker)(paragraph.speaker)}
                </b>
              )}
              {linkTo === undefined ? (
                <span className="segment-time" title={title}>
                  {time}
                </span>
              ) : (
                <a
                  className="segment-time"
                  title={title}
                  href={linkTo + paragraph.start}
                  aria-label={t(transcriptText.playFrom)(time)}
                  tabIndex={isFirst && at === 0 ? 0 : -1}
                >
                  {time}
                </a>
              )}
            </div>
            <p dir="auto">{paragraph.text}</p>
          </div>
        );
      })}
    </div>
  );
});
