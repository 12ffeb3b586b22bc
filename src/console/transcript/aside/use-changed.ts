import { useQueryClient } from "@tanstack/react-query";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { currentIdentity, identityOf } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { versionsQuery } from "./versions-query.ts";

/**
 * Returns a function that replaces a transcript, everywhere on the page, with the transcript that
 * the service has just returned.
 */
export function useChanged(name: string): (current: TranscriptJson) => void {
  const queries = useQueryClient();
  const owner = identityOf(useSession());
  return (current) => {
    // Another user may be signed in by now.
    if (currentIdentity(queries) !== owner) return;
    queries.setQueryData(transcriptQuery(name).queryKey, current);
    void queries.invalidateQueries({ queryKey: versionsQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: ["transcripts"] });
  };
}
