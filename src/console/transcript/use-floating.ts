import { type RefObject, useCallback, useEffect, useState } from "react";

/**
 * Returns whether a video is in a window of its own, which the user can move and resize
 * (Picture-in-Picture), and a function that opens that window; the function is undefined in
 * browsers without such windows.
 */
export function useFloating(media: RefObject<HTMLVideoElement | null>): {
  readonly isOn: boolean;
  readonly begin: (() => void) | undefined;
} {
  const [isOn, setIsOn] = useState(false);
  useEffect(() => {
    const video = media.current;
    if (!video) return undefined;
    const off = new AbortController();
    const { signal } = off;
    video.addEventListener("enterpictureinpicture", () => setIsOn(true), { signal });
    video.addEventListener("leavepictureinpicture", () => setIsOn(false), { signal });
    return () => {
      off.abort();
      // Browsers keep the window of a video that was removed, with nothing in it.
      if (canFloat() && document.pictureInPictureElement === video) {
        document.exitPictureInPicture().catch(() => {});
      }
    };
  }, [media]);
  const begin = useCallback(() => {
    // A browser may refuse, and then the picture stays where it is.
    media.current?.requestPictureInPicture().catch(() => {});
  }, [media]);
  return { isOn, begin: canFloat() ? begin : undefined };
}

function canFloat(): boolean {
  return "pictureInPictureEnabled" in document && document.pictureInPictureEnabled;
}
