import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, errorOfBody, offlineError } from "../../api/api-error.ts";
import { useAnnounce } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { ownPath } from "../own-path.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { recordingFileName } from "./recording-file-name.ts";
import { saveAddress } from "./save-file.ts";

/**
 * The recording itself, as it came. Its address is good for an hour: an older one is asked for
 * anew.
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
  const announce = useAnnounce();
  const download = useMutation({
    mutationFn: async () => {
      let address = ownPath(uri);
      let contentType = await typeAt(address);
      if (contentType === undefined) {
        const { uri: fresh = "" } = await queries.fetchQuery({
          ...transcriptQuery(name),
          staleTime: 0,
        });
        address = ownPath(fresh);
        contentType = fresh === "" ? undefined : await typeAt(address);
      }
      if (contentType === undefined) throw gone();
      const saved = recordingFileName(metadata?.subject ?? "", contentType);
      saveAddress(address, saved);
      return saved;
    },
    onSuccess: (saved) => announce(t(asideText.downloaded)(saved)),
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

/** What is at a signed address; undefined where it is over. */
async function typeAt(address: string): Promise<string | undefined> {
  let answer: Response;
  try {
    answer = await fetch(address, { method: "HEAD" });
  } catch {
    throw offlineError();
  }
  if (answer.ok) return answer.headers.get("content-type") ?? "";
  if (answer.status < 500) return undefined;
  throw errorOfBody(answer.status, "");
}

function gone(): ApiError {
  return new ApiError("the recording is gone", { status: 404, reason: "MEDIA_GONE" });
}
