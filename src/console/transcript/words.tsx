import { memo, useDeferredValue, useMemo, useRef } from "react";
import type { SpeakerInfoJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../parts/button.tsx";
import { useText } from "../text/language.tsx";
import { clockText } from "../text/numbers.ts";
import { transcriptText } from "../text/transcript.ts";
import { paragraphsPerPart } from "./playback-highlight.ts";
import { usePlaybackState, type Playback } from "./playback.ts";
import type { Paragraph, SpokenText } from "./spoken-text.ts";
import { useListening } from "./use-listening.ts";
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
  text,
  speakers,
  languageCode,
  playback,
  linkTo,
  startsAtPlace,
}: {
  readonly text: SpokenText;
  readonly speakers: Speakers;
  readonly languageCode: string;
  readonly playback: Playback | undefined;
  /** The address of this text, to which seconds are appended. */
  readonly linkTo: string;
  /** Whether the address has a place. */
  readonly startsAtPlace: boolean;
}) {
  const t = useText();
  const root = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => partsOf(text.paragraphs), [text]);
  const shown = useDeferredValue(parts.length, Math.min(parts.length, firstParts));
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

/** Callers choose speaker ids, so an id may be "constructor" or a similar property name. */
function nameOf(speakers: Speakers, id: string): string | undefined {
  return Object.hasOwn(speakers, id) ? speakers[id]?.fullName : undefined;
}

/** Some paragraphs, in reading order. */
const Part = memo(function Part({
  paragraphs,
  speakers,
  linkTo,
  isFirst,
}: {
  readonly paragraphs: readonly Paragraph[];
  readonly speakers: Speakers;
  readonly linkTo: string | undefined;
  readonly isFirst: boolean;
}) {
  const t = useText();
  return (
    <div className="words-part">
      {paragraphs.map((paragraph, at) => {
        const time = clockText(paragraph.start);
        return (
          <div className="segment" key={paragraph.firstWord}>
            <div className="segment-margin">
              {paragraph.isTurn && (
                <b className="segment-speaker">
                  {nameOf(speakers, paragraph.speaker) ??
                    t(transcriptText.unknownSpeaker)(paragraph.speaker)}
                </b>
              )}
              {linkTo === undefined ? (
                <span className="segment-time">{time}</span>
              ) : (
                <a
                  className="segment-time"
                  href={linkTo + paragraph.start}
                  aria-label={t(transcriptText.playFrom)(time)}
                  tabIndex={isFirst && at === 0 ? 0 : -1}
                >
                  {time}
                </a>
              )}
            </div>
            <p>{paragraph.text}</p>
          </div>
        );
      })}
    </div>
  );
});

/** A button that scrolls back to the current word, after the user has scrolled away from it. */
function FollowButton({
  playback,
  onPress,
}: {
  readonly playback: Playback;
  readonly onPress: () => void;
}) {
  const t = useText();
  const { isPlaying } = usePlaybackState(playback);
  if (!isPlaying) return null;
  return (
    <Button className="words-follow" onPress={onPress}>
      {t(transcriptText.follow)}
    </Button>
  );
}
