import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { Uploads } from "../media/uploads.ts";
import { answerOf } from "./answer-transcript.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";

/** The method of §4.4. */
export function readingMethods(
  read: ReadTranscript,
  { uploads, urls }: { readonly uploads: Uploads; readonly urls: SignedUrls },
) {
  return {
    async getTranscript({ name }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      await uploads.collectForTranscript(accountId, id);
      const stored = await read(context, id);
      if (!stored) throw transcriptNotFound(name);
      return answerOf({ urls }, accountId, stored);
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}
