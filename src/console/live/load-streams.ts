import { loadChunk } from "../parts/load-problems.ts";
import type { LiveStreams } from "./live-streams.ts";
import { createStreamToken } from "./stream-token.ts";

/**
 * Returns a function that loads what recognizes the recordings of a user, once for all calls. If it
 * fails, the next call loads it again.
 */
export function loadStreamsOf(
  owner: string,
  isSignedIn: () => boolean,
): () => Promise<LiveStreams> {
  let streams: Promise<LiveStreams> | undefined;
  return () => {
    streams ??= loadChunk(() => import("./live-streams.ts")).then(
      ({ openLiveStreams }) =>
        openLiveStreams((signal) => createStreamToken(owner, isSignedIn, signal)),
      (error: unknown) => {
        streams = undefined;
        throw error;
      },
    );
    return streams;
  };
}
