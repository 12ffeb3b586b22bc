import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { Uploads } from "../media/uploads.ts";
import { answerOf } from "./answer-transcript.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { isId } from "../std/ids.ts";
import { transcriptIdIn, transcriptNotFound, versionNotFound } from "./resource-names.ts";

/** The method of §4.4. */
export function readingMethods(
  read: ReadTranscript,
  { uploads, urls }: { readonly uploads: Uploads; readonly urls: SignedUrls },
) {
  return {
    async getTranscript({ name, version }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      await uploads.collectForTranscript(accountId, id);
      const versionName = `${name}/versions/${version}`;
      if (version !== "" && !isId(version)) throw versionNotFound(versionName);
      const reader = { accountId, signal: context.signal };
      const stored = await read(reader, id, version === "" ? {} : { versionId: version });
      if (!stored) throw version === "" ? transcriptNotFound(name) : versionNotFound(versionName);
      return answerOf({ urls }, accountId, stored);
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}
