import { useEffect, useRef, useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import { ownPath } from "../own-path.ts";
import { usePlaybackState, type Playback } from "../playback.ts";
import type { SpokenText } from "../spoken-text.ts";
import { Clock } from "./clock.tsx";
import { Keys } from "./keys.tsx";
import { PlayIcon } from "./play-icon.tsx";
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
}: {
  readonly playback: Playback;
  readonly text: SpokenText;
  readonly transcript: TranscriptJson;
  /** The address of the text, to which seconds are appended. */
  readonly linkTo: string;
  /** Returns the transcript with new URLs, because signed URLs expire. */
  readonly renew: () => Promise<TranscriptJson>;
}) {
  const t = useText();
  const { uri = "", metadata } = transcript;
  const isVideo = metadata?.fileType === "VIDEO";
  const [isPictureShown, setPictureShown] = useState(true);
  const { isPlaying, isMuted, problem } = usePlaybackState(playback);
  useMediaSession(playback, metadata?.subject ?? "");
  return (
    <section className="player" aria-label={t(transcriptText.player)}>
      <Media
        playback={playback}
        uri={uri}
        renew={renew}
        isVideo={isVideo}
        isShown={isVideo && isPictureShown}
      />
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
      </div>
      <div className="player-more">
        <Clock playback={playback} />
        <Button look="quiet" aria-label={t(transcriptText.back)} onPress={() => playback.skip(-5)}>
          {t(transcriptText.backShort)}
        </Button>
        <Speed playback={playback} />
        <Toggle
          text={t(transcriptText.mute)}
          isOn={isMuted}
          onChange={() => playback.toggleMuted()}
        />
        {isVideo && (
          <Toggle
            text={t(transcriptText.picture)}
            isOn={isPictureShown}
            onChange={() => setPictureShown(!isPictureShown)}
          />
        )}
        <Keys playback={playback} text={text} linkTo={linkTo} />
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

/** The media element, visible for video. It needs no captions: the page shows the words. */
function Media({
  playback,
  uri,
  renew,
  isVideo,
  isShown,
}: {
  readonly playback: Playback;
  readonly uri: string;
  readonly renew: () => Promise<TranscriptJson>;
  readonly isVideo: boolean;
  readonly isShown: boolean;
}) {
  const media = useRef<HTMLVideoElement>(null);
  const [path] = useState(() => ownPath(uri));
  useEffect(() => {
    if (!media.current) return undefined;
    return playback.attach(media.current, {
      url: path,
      renewUrl: async () => ownPath((await renew()).uri ?? ""),
    });
  }, [playback, path, renew]);
  return (
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- the page shows the text
    <video
      ref={media}
      className={isShown ? "player-picture" : "unseen"}
      preload="metadata"
      playsInline
      tabIndex={-1}
      aria-hidden={!isVideo}
    />
  );
}
