import { withStreamPlace } from "../../api/stream-place.ts";
import type { WatchTranscriptResponseJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** How long after the service has ended a stream it is opened again. */
const againMs = 15_000;

/**
 * Watches a transcript (:watch, server-sent events) until it is deleted. Each state is whole. If
 * other tabs of the browser have all places for streams, it waits for one of them. Returns a
 * function that stops watching.
 */
export function watchTranscript(
  name: string,
  onState: (state: WatchTranscriptResponseJson) => void,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  void withStreamPlace(signal, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = stream(name, onState);
    signal.addEventListener("abort", () => {
      stop();
      resolve();
    });
    await promise;
  });
  return () => stopped.abort();
}

/** Opens the stream. Returns a function that closes it. */
function stream(name: string, onState: (state: WatchTranscriptResponseJson) => void): () => void {
  let source: EventSource;
  let again: ReturnType<typeof setTimeout> | undefined;
  let isDeleted = false;
  const open = (): void => {
    source = new EventSource(`/console/api/v1alpha1/${name}:watch`);
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const { result }: { readonly result?: WatchTranscriptResponseJson } = JSON.parse(data);
      if (!result) return;
      isDeleted = result.deleted === true;
      onState(result);
    });
    source.addEventListener("end", () => {
      source.close();
      openLater();
    });
    source.addEventListener("error", () => {
      // The browser reconnects by itself, unless the service has refused the stream.
      if (source.readyState === EventSource.CLOSED) openLater();
    });
  };
  const openLater = (): void => {
    clearTimeout(again);
    if (!isDeleted) again = setTimeout(open, againMs);
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}
