import { createHlustClient, type HlustClient } from "../../client/hlust-client.ts";
import type { StreamTokenSource } from "../../client/stream-token.ts";
import type { WordInfo } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import type { SpokenWord } from "./spoken.ts";
import { failureOf } from "./stream-failure.ts";

/**
 * What recognizes a recording: the client with its messages, which is as large as the rest of the
 * page, and is loaded once someone uses the page.
 */
export interface LiveStreams {
  readonly client: HlustClient;
  readonly failureOf: typeof failureOf;
  readonly timedWords: typeof timedWords;
}

/** Opens what recognizes a recording. Each stream gets a token from `streamToken`. */
export function openLiveStreams(streamToken: StreamTokenSource): LiveStreams {
  const client = createHlustClient({ url: location.origin, streamToken });
  return { client, failureOf, timedWords };
}

/** Returns the words that have times. `startMs` is the position at which their stream began. */
function timedWords(words: readonly WordInfo[], startMs: number): SpokenWord[] {
  return words.flatMap(({ word, startTime, endTime, confidence, spoken, estimatedTimes }) =>
    startTime && endTime
      ? [
          {
            text: word,
            startMs: Math.round(startMs + msOfDuration(startTime)),
            endMs: Math.round(startMs + msOfDuration(endTime)),
            ...(confidence !== undefined && { confidence }),
            ...(spoken !== undefined && { spoken }),
            ...(estimatedTimes && { estimatedTimes }),
          },
        ]
      : [],
  );
}
