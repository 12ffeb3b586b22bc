import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { ChangedElsewhere, changeMetadata, edited, type MetadataEdit } from "./change-metadata.ts";
import { useChanged } from "./use-changed.ts";

/**
 * Changes metadata of a transcript: shown everywhere at once, and taken back where it does not
 * succeed. Changes of one transcript go one after the other.
 */
export function useMetadataChange(name: string, transcript: TranscriptJson) {
  const queries = useQueryClient();
  const { queryKey } = transcriptQuery(name);
  const changed = useChanged(name);
  const show = (edit: MetadataEdit) => {
    queries.setQueryData(queryKey, (shown) => shown && withEdit(shown, edit));
  };
  return useMutation({
    scope: { id: name },
    mutationFn: (edit: MetadataEdit) =>
      changeMetadata(name, queries.getQueryData(queryKey) ?? transcript, edit),
    onMutate: async (edit) => {
      // An answer on its way was written before the change.
      await queries.cancelQueries({ queryKey });
      show(edit);
    },
    onSuccess: changed,
    onError: (error, edit) => {
      if (error instanceof ChangedElsewhere) changed(error.current);
      else show(turned(edit));
    },
  });
}

function withEdit(shown: TranscriptJson, edit: MetadataEdit): TranscriptJson {
  const { metadata = {} } = shown;
  return { ...shown, metadata: { ...metadata, ...edited(metadata, edit) } };
}

/** The edit that takes an edit back. */
function turned({ subject, description, keywords, speakers }: MetadataEdit): MetadataEdit {
  const back = <Value>({ from, to }: { readonly from: Value; readonly to: Value }) => ({
    from: to,
    to: from,
  });
  return {
    ...(subject && { subject: back(subject) }),
    ...(description && { description: back(description) }),
    ...(keywords && { keywords: back(keywords) }),
    ...(speakers && {
      speakers: Object.fromEntries(
        Object.entries(speakers).map(([id, names]) => [id, back(names)]),
      ),
    }),
  };
}
