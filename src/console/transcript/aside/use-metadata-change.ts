import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { ChangedElsewhere, changeMetadata, edited, type MetadataEdit } from "./change-metadata.ts";
import { useChanged } from "./use-changed.ts";

/**
 * Changes the metadata of a transcript. The change is shown everywhere immediately, and is reverted
 * if it fails. Changes to the same transcript run one after another.
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
      // A response that is still in flight does not contain the change.
      await queries.cancelQueries({ queryKey });
      show(edit);
    },
    onSuccess: changed,
    onError: (error, edit) => {
      if (error instanceof ChangedElsewhere) changed(error.current);
      else show(reversed(edit));
    },
  });
}

function withEdit(shown: TranscriptJson, edit: MetadataEdit): TranscriptJson {
  const { metadata = {} } = shown;
  return { ...shown, metadata: { ...metadata, ...edited(metadata, edit) } };
}

/** Returns the edit that undoes an edit. */
function reversed({ subject, description, keywords, speakers }: MetadataEdit): MetadataEdit {
  const swap = <Value>({ from, to }: { readonly from: Value; readonly to: Value }) => ({
    from: to,
    to: from,
  });
  return {
    ...(subject && { subject: swap(subject) }),
    ...(description && { description: swap(description) }),
    ...(keywords && { keywords: swap(keywords) }),
    ...(speakers && {
      speakers: Object.fromEntries(
        Object.entries(speakers).map(([id, names]) => [id, swap(names)]),
      ),
    }),
  };
}
