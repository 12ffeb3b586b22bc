import { lazy, Suspense, useState, type RefObject } from "react";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ScrollPlace } from "./edit/scroll-place.ts";
import type { Playback } from "./playback.ts";
import type { SpokenText } from "./spoken-text.ts";
import type { SubtitlesView } from "./subtitles/use-subtitles-view.ts";
import { Words } from "./words.tsx";

const ReadSubtitles = lazy(() =>
  import("./subtitles/read-subtitles.tsx").then(({ ReadSubtitles }) => ({
    default: ReadSubtitles,
  })),
);

/** The text of a transcript that is read, as paragraphs or as subtitles. */
export function ReadText({
  transcript,
  root,
  text,
  playback,
  linkTo,
  place,
  editedPlace,
  subtitles,
}: {
  readonly transcript: TranscriptJson;
  /** Receives the element of the paragraphs. */
  readonly root: RefObject<HTMLDivElement | null>;
  readonly text: SpokenText;
  readonly playback: Playback | undefined;
  /** The address of this page, to which seconds are appended. */
  readonly linkTo: string;
  /** The place in the address, in seconds. */
  readonly place: number | undefined;
  /** Where the user was in the text, if it was edited until now. */
  readonly editedPlace: ScrollPlace | undefined;
  readonly subtitles: SubtitlesView;
}) {
  const before = useLatest(editedPlace, subtitles.place);
  if (subtitles.isOn) {
    return (
      <Suspense fallback={<div />}>
        <ReadSubtitles
          transcript={transcript}
          root={subtitles.root}
          caption={subtitles.caption}
          playback={playback}
          linkTo={linkTo}
          startMs={subtitles.startMs ?? (place === undefined ? undefined : place * 1000)}
        />
      </Suspense>
    );
  }
  const { speakers, languageCode } = transcript.metadata ?? {};
  return (
    <Words
      root={root}
      text={text}
      speakers={speakers ?? {}}
      languageCode={languageCode ?? ""}
      playback={playback}
      linkTo={linkTo}
      startsAtPlace={(place !== undefined || playback?.state.isBegun === true) && !before}
      place={before}
    />
  );
}

/** Returns the one of two values that changed last. */
function useLatest<Value>(one: Value, other: Value): Value {
  const [seen, setSeen] = useState({ one, other, latest: one });
  if (seen.one === one && seen.other === other) return seen.latest;
  const latest = seen.one === one ? other : one;
  setSeen({ one, other, latest });
  return latest;
}
