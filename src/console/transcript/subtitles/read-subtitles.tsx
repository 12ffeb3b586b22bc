import { useState } from "react";
import type { TimedWords } from "../../../cues/timed-words.ts";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../text/numbers.ts";
import { Subtitles, type SubtitlesProps } from "./subtitles.tsx";
import { timedSegments } from "./timed-segments.ts";

/** The subtitles of a transcript that is read: those of the files that the service exports. */
export function ReadSubtitles({
  transcript,
  ...props
}: Omit<SubtitlesProps, "segments" | "limitMs" | "speakers" | "languageCode"> & {
  readonly transcript: TranscriptJson;
}) {
  const { speakers, languageCode = "", recordingDuration } = transcript.metadata ?? {};
  const limitMs = Math.floor(secondsOf(recordingDuration ?? undefined) * 1000);
  const segments = useSegmentsOf(transcript);
  return (
    <Subtitles
      {...props}
      segments={segments}
      limitMs={recordingDuration ? limitMs : Infinity}
      speakers={speakers ?? noSpeakers}
      languageCode={languageCode}
    />
  );
}

const noSpeakers = {};

/** The same version always returns the same segments, although each response is another object. */
function useSegmentsOf({ version, segments = [] }: TranscriptJson): readonly TimedWords[] {
  const id = version?.name;
  const [shown, setShown] = useState(() => ({ id, segments: timedSegments(segments) }));
  if (shown.id === id) return shown.segments;
  const timed = timedSegments(segments);
  setShown({ id, segments: timed });
  return timed;
}
