import { useCallback, useState } from "react";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { keep, readKept } from "../api/kept.ts";

const keptAs = "hlust.picture";

/** How the picture of a video is shown: next to the text, large above it, or not at all. */
export type PictureLook = "small" | "large" | "off";

/** The picture of a video, as the user has chosen to see it. */
export interface Picture {
  /** False for a recording without a picture. */
  readonly isOffered: boolean;
  readonly isShown: boolean;
  readonly isLarge: boolean;
  readonly change: (look: PictureLook) => void;
}

/** The user's choice how pictures are shown, which the browser keeps. */
export function usePicture({ metadata, uri = "" }: TranscriptJson): Picture {
  const [look, setLook] = useState<PictureLook>(() => {
    const kept = readKept(keptAs);
    return kept === "off" || kept === "large" ? kept : "small";
  });
  const isOffered = uri !== "" && metadata?.fileType === "VIDEO";
  const change = useCallback((chosen: PictureLook) => {
    keep(keptAs, chosen === "small" ? undefined : chosen);
    setLook(chosen);
  }, []);
  const isShown = isOffered && look !== "off";
  return { isOffered, isShown, isLarge: isShown && look === "large", change };
}
