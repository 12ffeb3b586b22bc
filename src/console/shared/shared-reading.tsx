import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useText } from "../text/language.tsx";
import { sharedPageText } from "../text/shared-page.ts";
import { transcriptText } from "../text/transcript.ts";
import { FindInText } from "../transcript/finding/find-in-text.tsx";
import { Media } from "../transcript/media.tsx";
import { usePicture } from "../transcript/use-picture.ts";
import { ReadingFrame } from "../transcript/reading-frame.tsx";
import { useFacts } from "../transcript/use-facts.ts";
import { usePlaceInAddress, usePlaybackOf, useTextOf } from "../transcript/use-reading.ts";
import { Words } from "../transcript/words.tsx";
import { sharedQuery } from "./shared-query.ts";

/** A shared transcript to read, and to play if the link has the media. */
export function SharedReading({
  transcript,
  token,
}: {
  readonly transcript: TranscriptJson;
  readonly token: string;
}) {
  const t = useText();
  const text = useTextOf(transcript);
  const place = usePlaceInAddress();
  const { metadata, uri = "" } = transcript;
  const { speakers = {}, languageCode = "" } = metadata ?? {};
  const playback = usePlaybackOf(transcript, place ?? 0, place);
  const playable = uri === "" ? undefined : playback;
  const renew = useRenewal(token);
  const root = useRef<HTMLDivElement>(null);
  const caption = useRef<HTMLParagraphElement>(null);
  const picture = usePicture(transcript);
  const linkTo = `/console/shared/${token}?t=`;
  const subject = metadata?.subject?.trim() ?? "";
  const facts = useFacts(transcript);
  return (
    <ReadingFrame
      {...{ text, transcript, linkTo, renew, picture }}
      playback={playable}
      head={
        <PageHead title={subject || t(transcriptText.untitled)} sub={facts}>
          {text.wordCount > 0 && (
            <FindInText {...{ root, text, speakers, languageCode }} playback={playable} />
          )}
          <Button onPress={() => print()}>{t(sharedPageText.print)}</Button>
        </PageHead>
      }
      side={
        playable && (
          <div className="reading-side">
            <Media {...{ uri, renew, picture, caption }} playback={playable} />
          </div>
        )
      }
    >
      {text.wordCount === 0 ? (
        <Empty title={t(transcriptText.noWords)} />
      ) : (
        <Words
          root={root}
          text={text}
          speakers={speakers}
          languageCode={languageCode}
          playback={playable}
          linkTo={linkTo}
          startsAtPlace={place !== undefined}
          place={undefined}
        />
      )}
    </ReadingFrame>
  );
}

/** Fetches the transcript again to get new URLs, because signed URLs expire. */
function useRenewal(token: string): () => Promise<TranscriptJson> {
  const queries = useQueryClient();
  return useCallback(
    () => queries.fetchQuery({ ...sharedQuery(token), staleTime: 0 }),
    [queries, token],
  );
}
