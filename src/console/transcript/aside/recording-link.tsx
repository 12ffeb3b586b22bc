import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, errorOfBody, offlineError } from "../../api/api-error.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { ownPath } from "../own-path.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { recordingFileName } from "./recording-file-name.ts";
import { saveUrl } from "../../parts/save-file.ts";

/**
 * A download link for the original recording. Its URL is valid for an hour; after that, a new URL
 * is read.
 */
export function RecordingLink({
  transcript: { uri = "", metadata },
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const download = useMutation({
    mutationFn: async () => {
      let url = ownPath(uri);
      let contentType = await typeAt(url);
      if (contentType === undefined) {
        const { uri: fresh = "" } = await queries.fetchQuery({
          ...transcriptQuery(name),
          staleTime: 0,
        });
        url = ownPath(fresh);
        contentType = fresh === "" ? undefined : await typeAt(url);
      }
      if (contentType === undefined) throw mediaGone();
      const saved = recordingFileName(metadata?.subject ?? "", contentType);
      saveUrl(url, saved);
      return saved;
    },
    onSuccess: (saved) => notify(t(asideText.downloaded)(saved)),
  });
  if (uri === "") return null;
  return (
    <>
      <Button
        aria-label={t(asideText.downloadAs)(t(asideText.recording))}
        isPending={download.isPending}
        onPress={() => {
          if (!download.isPending) download.mutate();
        }}
      >
        {t(asideText.recording)}
      </Button>
      {download.error && <ProblemNote error={download.error} onRetry={() => download.mutate()} />}
    </>
  );
}

/** Returns the media type at a signed URL, or undefined if the URL has expired. */
async function typeAt(url: string): Promise<string | undefined> {
  let answer: Response;
  try {
    answer = await fetch(url, { method: "HEAD" });
  } catch {
    throw offlineError();
  }
  if (answer.ok) return answer.headers.get("content-type") ?? "";
  if (answer.status < 500) return undefined;
  throw errorOfBody(answer.status, "");
}

function mediaGone(): ApiError {
  return new ApiError("the recording is gone", { status: 404, reason: "MEDIA_GONE" });
}
