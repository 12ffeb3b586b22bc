import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import type { Picture } from "../use-picture.ts";
import { usePlaybackState, type Playback } from "../playback.ts";
import type { SpokenText } from "../spoken-text.ts";
import { Clock } from "./clock.tsx";
import { Keys } from "./keys.tsx";
import { PlayIcon } from "./play-icon.tsx";
import { ReviewLane } from "./review-lane.tsx";
import { Speed } from "./speed.tsx";
import { useMediaSession } from "./use-media-session.ts";
import { Wave } from "./wave.tsx";
import "./player.css";

/** The player at the bottom of the page, with the keyboard shortcuts. */
export function Player({
  playback,
  text,
  transcript,
  linkTo,
  renew,
  picture,
  reviewOf,
  isEditing = false,
}: {
  readonly playback: Playback;
  readonly text: SpokenText;
  readonly transcript: TranscriptJson;
  /** The address of the text, to which seconds are appended. */
  readonly linkTo: string;
  /** Returns the transcript with new URLs, because signed URLs expire. */
  readonly renew: () => Promise<TranscriptJson>;
  readonly picture: Picture;
  /** The name of the transcript whose review is shown; undefined if the user may not read it. */
  readonly reviewOf?: string;
  /** Whether the text is edited. */
  readonly isEditing?: boolean;
}) {
  const t = useText();
  const { metadata } = transcript;
  const { isPlaying, isMuted, problem } = usePlaybackState(playback);
  useMediaSession(playback, metadata?.subject ?? "");
  return (
    <section className="player" data-region="player" aria-label={t(transcriptText.player)}>
      <Button
        className="player-play"
        aria-label={t(isPlaying ? transcriptText.pause : transcriptText.play)}
        onPress={() => playback.toggle()}
      >
        <PlayIcon isPlaying={isPlaying} />
      </Button>
      <div className="player-line">
        {problem === undefined ? (
          <Wave playback={playback} waveformUri={metadata?.waveformUri ?? ""} renew={renew} />
        ) : (
          <p className="failed" role="alert">
            {t(
              problem === "unavailable"
                ? transcriptText.mediaUnavailable
                : transcriptText.unplayable,
            )}
          </p>
        )}
        {problem === undefined && reviewOf !== undefined && (
          <ReviewLane name={reviewOf} playback={playback} />
        )}
      </div>
      <div className="player-more">
        <Clock playback={playback} />
        <Button look="quiet" aria-label={t(transcriptText.back)} onPress={() => playback.skip(-5)}>
          {t(transcriptText.backShort)}
        </Button>
        <Button
          look="quiet"
          className="player-ahead"
          aria-label={t(transcriptText.ahead)}
          onPress={() => playback.skip(5)}
        >
          {t(transcriptText.aheadShort)}
        </Button>
        <Speed playback={playback} />
        <Toggle
          text={t(transcriptText.mute)}
          isOn={isMuted}
          onChange={() => playback.toggleMuted()}
        />
        {picture.isOffered && (
          <Toggle
            text={t(transcriptText.picture)}
            isOn={picture.isShown}
            onChange={() => picture.change(picture.isShown ? "off" : "small")}
          />
        )}
        <Keys {...{ playback, text, linkTo, isEditing }} />
      </div>
    </section>
  );
}

function Toggle({
  text,
  isOn,
  onChange,
}: {
  readonly text: string;
  readonly isOn: boolean;
  readonly onChange: () => void;
}) {
  return (
    <Button look="quiet" className="player-toggle" aria-pressed={isOn} onPress={onChange}>
      {text}
    </Button>
  );
}
