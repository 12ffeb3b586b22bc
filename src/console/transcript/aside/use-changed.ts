import { useQueryClient } from "@tanstack/react-query";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { identityOf, whoIsIn } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { versionsQuery } from "./versions-query.ts";

/** Shows a transcript as the service has just answered it, wherever it is shown. */
export function useChanged(name: string): (current: TranscriptJson) => void {
  const queries = useQueryClient();
  const owner = identityOf(useSession());
  return (current) => {
    // An answer may come when somebody else is signed in.
    if (whoIsIn(queries) !== owner) return;
    queries.setQueryData(transcriptQuery(name).queryKey, current);
    void queries.invalidateQueries({ queryKey: versionsQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: ["transcripts"] });
  };
}
