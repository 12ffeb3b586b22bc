import { callerOf } from "../auth/caller.ts";
import { answerOf } from "./answer-transcript.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";
import type { TranscriptsParts, TranscriptsService } from "./transcripts-service.ts";

/** Section 4.4. */
export function readingMethods(parts: TranscriptsParts, read: ReadTranscript) {
  const { uploads } = parts;
  return {
    async getTranscript({ name }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      await uploads.collectForTranscript(accountId, id);
      const stored = await read(context, id);
      if (!stored) throw transcriptNotFound(name);
      return answerOf(parts, accountId, stored);
    },
  } satisfies Partial<TranscriptsService>;
}
