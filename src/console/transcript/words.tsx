import { memo, useDeferredValue, useMemo, useRef } from "react";
import type { SpeakerJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../parts/button.tsx";
import { useText } from "../text/language.tsx";
import { clockText } from "../text/numbers.ts";
import { transcriptText } from "../text/transcript.ts";
import { piecesOfPart } from "./heard-light.ts";
import { usePlaybackState, type Playback } from "./playback.ts";
import type { Piece, SpokenText } from "./spoken-text.ts";
import { useListening } from "./use-listening.ts";
import { useRoving } from "./use-roving.ts";
import "./words.css";

/** Parts that are there at once; the others come while these are read already. */
const partsAtOnce = 3;

type Speakers = Readonly<Record<string, SpeakerJson>>;

/**
 * The text of a transcript, with who speaks and when in its margin; with a playback it can be heard
 * from any place.
 */
export function Words({
  text,
  speakers,
  languageCode,
  playback,
  linkTo,
  isGoneTo,
}: {
  readonly text: SpokenText;
  readonly speakers: Speakers;
  readonly languageCode: string;
  readonly playback: Playback | undefined;
  /** The address of this text, to which seconds are added. */
  readonly linkTo: string;
  /** Whether the address names a place. */
  readonly isGoneTo: boolean;
}) {
  const t = useText();
  const root = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => partsOf(text.pieces), [text]);
  const shown = useDeferredValue(parts.length, Math.min(parts.length, partsAtOnce));
  const { isFollowing, follow } = useListening(root, text, { playback, shown, isGoneTo });
  useRoving(root, text, playback);
  return (
    <section className="words" aria-label={t(transcriptText.textName)}>
      <div className="words-text" ref={root} lang={languageCode}>
        {parts.slice(0, shown).map((pieces, at) => (
          <Part
            key={pieces[0]?.firstWord}
            pieces={pieces}
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

function partsOf(pieces: readonly Piece[]): (readonly Piece[])[] {
  return Array.from({ length: Math.ceil(pieces.length / piecesOfPart) }, (_, at) =>
    pieces.slice(at * piecesOfPart, (at + 1) * piecesOfPart),
  );
}

/** Ids are what callers made them, and may be names that every object has. */
function nameOf(speakers: Speakers, id: string): string | undefined {
  return Object.hasOwn(speakers, id) ? speakers[id]?.name : undefined;
}

/** Some paragraphs, in the order of reading. */
const Part = memo(function Part({
  pieces,
  speakers,
  linkTo,
  isFirst,
}: {
  readonly pieces: readonly Piece[];
  readonly speakers: Speakers;
  readonly linkTo: string | undefined;
  readonly isFirst: boolean;
}) {
  const t = useText();
  return (
    <div className="words-part">
      {pieces.map((piece, at) => {
        const time = clockText(piece.start);
        return (
          <div className="segment" key={piece.firstWord}>
            <div className="segment-margin">
              {piece.isTurn && (
                <b className="segment-speaker">
                  {nameOf(speakers, piece.speaker) ??
                    t(transcriptText.unknownSpeaker)(piece.speaker)}
                </b>
              )}
              {linkTo === undefined ? (
                <span className="segment-time">{time}</span>
              ) : (
                <a
                  className="segment-time"
                  href={linkTo + piece.start}
                  aria-label={t(transcriptText.playFrom)(time)}
                  tabIndex={isFirst && at === 0 ? 0 : -1}
                >
                  {time}
                </a>
              )}
            </div>
            <p>{piece.text}</p>
          </div>
        );
      })}
    </div>
  );
});

/** The way back to what is heard, for who has scrolled away from it while it plays. */
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
