import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { ParticipantJson } from "../../../../gen/hlust/transcripts/v1alpha1/presence_pb.ts";
import type { VersionJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../../api/api-error.ts";
import { callApi } from "../../../api/call-api.ts";
import { reviewQuery } from "../../review-query.ts";
import { watchTranscript } from "./watch-transcript.ts";

/** How often this page reports that it still edits the text. */
const reportEveryMs = 15_000;

/** What others do with the transcript that is edited. */
export interface Presence {
  /** The other pages and programs that have it open. */
  readonly others: readonly ParticipantJson[];
  /** The current version; undefined until it is known. */
  readonly version: VersionJson | undefined;
  readonly isDeleted: boolean;
}

const alone: Presence = { others: [], version: undefined, isDeleted: false };

/**
 * Reports that this page edits a transcript, and where, until it is left; returns what others
 * do with it. `place` returns the position of the caret in seconds. The marks of others are read as
 * soon as they have changed.
 */
export function usePresence(name: string, place: () => number | undefined): Presence {
  const [session] = useState(() => `page-${crypto.getRandomValues(new Uint32Array(3)).join("-")}`);
  const [presence, setPresence] = useState(alone);
  const queries = useQueryClient();
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => !document.hidden);
  useEffect(() => {
    if (!isVisible) return undefined;
    return watchTranscript(name, (state) => {
      const { participants = [], version, deleted = false, reviewEtag } = state;
      const { queryKey } = reviewQuery(name);
      const review = queries.getQueryData(queryKey);
      if (review && review.etag !== reviewEtag) void queries.invalidateQueries({ queryKey });
      const others = participants.filter((one) => one.session !== session);
      setPresence((before) => ({
        others,
        version: version ?? before.version,
        isDeleted: deleted,
      }));
    });
  }, [name, session, isVisible, queries]);
  useEffect(
    () =>
      reportWhileOpen(name, {
        session,
        place,
        onDeleted: () => setPresence((before) => ({ ...before, others: [], isDeleted: true })),
      }),
    [name, session, place],
  );
  return presence;
}

function reportWhileOpen(
  name: string,
  {
    session,
    place,
    onDeleted,
  }: {
    readonly session: string;
    readonly place: () => number | undefined;
    readonly onDeleted: () => void;
  },
): () => void {
  const send = async (state: object): Promise<void> => {
    const path = `/v1alpha1/${name}:reportPresence`;
    try {
      await callApi(path, { method: "POST", body: { session, ...state }, keepalive: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === "TRANSCRIPT_NOT_FOUND") onDeleted();
      // Otherwise the next report may succeed, so no error is shown.
    }
  };
  const report = (): void => {
    const seconds = place();
    const position = seconds === undefined ? {} : { position: `${seconds.toFixed(3)}s` };
    void send({ editing: true, ...position });
  };
  const leave = (): void => void send({ leave: true });
  report();
  const timer = setInterval(report, reportEveryMs);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", report);
  return () => {
    clearInterval(timer);
    removeEventListener("pagehide", leave);
    removeEventListener("pageshow", report);
    leave();
  };
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
