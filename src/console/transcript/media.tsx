import { type Ref, useEffect, useRef, useState } from "react";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ownPath } from "./own-path.ts";
import { PictureControls } from "./picture-controls.tsx";
import type { Playback } from "./playback.ts";
import type { Picture } from "./use-picture.ts";
import { useFloating } from "./use-floating.ts";
import "./media.css";

/**
 * The media element of a playback. The picture of a video is next to the text, and above it in a
 * narrow window or when it is large; a click on it plays or pauses. It needs no captions: the page
 * shows the words.
 */
export function Media({
  playback,
  uri,
  renew,
  picture,
  caption,
}: {
  readonly playback: Playback;
  readonly uri: string;
  /** Returns the transcript with new URLs, because signed URLs expire. */
  readonly renew: () => Promise<TranscriptJson>;
  readonly picture: Picture;
  /** Receives the element over the picture in which subtitles are shown. */
  readonly caption: Ref<HTMLParagraphElement>;
}) {
  const media = useRef<HTMLVideoElement>(null);
  const [path] = useState(() => ownPath(uri));
  const floating = useFloating(media);
  useEffect(() => {
    const element = media.current;
    if (!element) return undefined;
    const detach = playback.attach(element, {
      url: path,
      renewUrl: async () => ownPath((await renew()).uri ?? ""),
    });
    // The keyboard has the button and the shortcuts of the player.
    const toggle = (): void => playback.toggle();
    element.addEventListener("click", toggle);
    return () => {
      element.removeEventListener("click", toggle);
      detach();
    };
  }, [playback, path, renew]);
  return (
    <div className={picture.isShown && !floating.isOn ? "picture" : "unseen"}>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- the page shows the text */}
      <video
        ref={media}
        preload="metadata"
        playsInline
        tabIndex={-1}
        aria-hidden={!picture.isOffered}
      />
      {/* The page has the same subtitles, for screen readers too. */}
      <p className="picture-caption" ref={caption} aria-hidden="true" />
      {picture.isShown && !floating.isOn && (
        <PictureControls picture={picture} onFloat={floating.begin} />
      )}
    </div>
  );
}
