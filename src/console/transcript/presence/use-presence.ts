import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { ParticipantJson } from "../../../gen/hlust/transcripts/v1alpha1/presence_pb.ts";
import type { VersionJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { watchTranscript } from "../../api/account-stream.ts";
import { identityOf } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { reviewQuery } from "../review-query.ts";
import { PresenceReporter, type Reader } from "./presence-reporter.ts";

/** What others do with the transcript of the page. */
export interface Presence {
  /** The other pages and programs that have it open. */
  readonly others: readonly ParticipantJson[];
  /** The current version; undefined until it is known. */
  readonly version: VersionJson | undefined;
  readonly isDeleted: boolean;
  /**
   * Reports that the page edits the text. `place` returns the position of the caret in seconds.
   * Returns a function that ends it.
   */
  readonly edit: (place: () => number | undefined) => () => void;
}

const alone: Omit<Presence, "edit"> = { others: [], version: undefined, isDeleted: false };

/**
 * Reports that this page has a transcript open, and where, until it is left; returns what others
 * do with it. The marks of others are read as soon as they have changed.
 */
export function usePresence(name: string, reader: Reader): Presence {
  const [presence, setPresence] = useState(alone);
  const [reporter] = useState(
    () =>
      new PresenceReporter(name, () =>
        setPresence((before) => ({ ...before, others: [], isDeleted: true })),
      ),
  );
  useEffect(() => reporter.setReader(reader), [reporter, reader]);
  const queries = useQueryClient();
  const owner = identityOf(useSession());
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => !document.hidden);
  useEffect(() => {
    if (!isVisible) return undefined;
    return watchTranscript(owner, name, (state) => {
      if (!state) {
        reporter.setOthers(0);
        setPresence((before) => ({ ...before, others: [] }));
        return;
      }
      const { participants = [], version, deleted = false, reviewEtag = "" } = state;
      const { queryKey } = reviewQuery(name);
      const review = queries.getQueryData(queryKey);
      if (review && review.etag !== reviewEtag) void queries.invalidateQueries({ queryKey });
      const others = participants.filter((one) => one.session !== reporter.session);
      reporter.setOthers(others.length);
      setPresence((before) => {
        const now = { others, version: version ?? before.version, isDeleted: deleted };
        // This page's own reports come back, too, and should not render it.
        return isSame(now, before) ? before : now;
      });
    });
  }, [owner, name, reporter, isVisible, queries]);
  useEffect(() => reporter.start(), [reporter]);
  const [edit] = useState(() => (at: () => number | undefined) => reporter.edit(at));
  return { ...presence, edit };
}

/** Whether two states have the same content. They are a few hundred bytes of JSON. */
function isSame(one: typeof alone, other: typeof alone): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
