import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ResumableUpload } from "../media/receive-part.ts";
import type { AnnouncedUpload, ResumableUploads } from "../media/resumable-uploads.ts";
import type { Uploads } from "../media/uploads.ts";
import { invalidArgument } from "../std/service-error.ts";
import { checkText } from "./check-values.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";

/** The maximum length of a file name (docs/api.md, Uploads). */
export const fileNameCharsMax = 1000;

/** The method of §4.7. */
export function uploadMethods({ uploads }: { readonly uploads: Uploads }) {
  return {
    async initUpload({ resourceName, filename }, context) {
      const { accountId } = callerOf(context);
      const transcriptId = uploadFor({ resourceName, filename });
      const begun = await uploads.begin(accountId, transcriptId, filename);
      if (!begun) throw transcriptNotFound(resourceName);
      return {
        storageSignedUrl: begun.url,
        resourceName: resourceName === "" ? `uploads/${begun.id}` : resourceName,
      };
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** Creates a resumable upload, with the rules of initUpload. */
export async function beginResumable(
  uploads: ResumableUploads,
  accountId: string,
  announced: UploadRequest & Pick<AnnouncedUpload, "sizeBytes" | "metadata">,
): Promise<ResumableUpload> {
  const { resourceName, filename: fileName, sizeBytes, metadata } = announced;
  const transcriptId = uploadFor(announced);
  const upload = { transcriptId, fileName, sizeBytes, metadata };
  const begun = await uploads.begin(accountId, upload);
  if (!begun) throw transcriptNotFound(resourceName);
  return begun;
}

interface UploadRequest {
  readonly resourceName: string;
  readonly filename: string;
}

/** Returns the transcript that receives the media, or null. Throws for wrong values. */
function uploadFor({ resourceName, filename }: UploadRequest): string | null {
  if (resourceName !== "" && !resourceName.startsWith("transcripts/")) {
    const description = "must be transcripts/<transcript_id>, or empty for a new upload";
    throw invalidArgument([{ field: "resourceName", description }]);
  }
  const trouble = [...checkText("filename", filename, fileNameCharsMax)];
  if (trouble.length > 0) throw invalidArgument(trouble);
  return resourceName === "" ? null : transcriptIdIn(resourceName);
}
