import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../../auth/caller.ts";
import type { ByteStream, ReadRequest } from "../../gen/google/bytestream/bytestream_pb.ts";
import { invalidArgument, ServiceError } from "../../std/service-error.ts";
import { blobNotFound, blobTranscriptId } from "./blob-name.ts";
import { findContent, findRecording } from "./content-store.ts";
import { ContentWriter, type ContentParts } from "./content-writer.ts";
import { WriteMessages } from "./write-messages.ts";

/** A write that receives no message for this long ends. */
const idleMsDefault = 60_000;

/** Creates the service for the content of jobs, of which callers write and read parts. */
export function createByteStream(
  parts: ContentParts & { readonly idleMsMax?: number },
): ServiceImpl<typeof ByteStream> {
  const { db, store, idleMsMax = idleMsDefault } = parts;
  const writer = new ContentWriter(parts);
  return {
    async *read(request, context) {
      const { accountId } = callerOf(context);
      const { resourceName } = request;
      const transcriptId = blobTranscriptId(resourceName);
      const recording = await findRecording(db, accountId, transcriptId);
      const content = recording ? undefined : await findContent(db, accountId, transcriptId);
      if (content?.state === "WAITING_FOR_CONTENT") throw incomplete();
      const media = recording ?? content?.media;
      if (!media) throw blobNotFound(resourceName);
      const range = rangeOf(request, media.sizeBytes);
      if (!range) return;
      for await (const data of await store.open(media.id, range)) yield { data };
    },

    async write(messages, context) {
      const { accountId } = callerOf(context);
      using write = await WriteMessages.open(messages, idleMsMax);
      const committed = await writer.write(accountId, write, context.signal);
      return { committedSize: BigInt(committed) };
    },

    async queryWriteStatus({ resourceName }, context) {
      const { accountId } = callerOf(context);
      const { committedBytes, isComplete } = await writer.status(accountId, resourceName);
      return { committedSize: BigInt(committedBytes), complete: isComplete };
    },
  };
}

/** Returns the range to read, or undefined if it is empty. */
function rangeOf({ readOffset, readLimit }: ReadRequest, sizeBytes: number) {
  const start = Number(readOffset);
  const limit = Number(readLimit);
  if (limit < 0) {
    const description = `must be 0 or more, not ${readLimit}`;
    throw invalidArgument([{ field: "readLimit", description }]);
  }
  if (start < 0 || start > sizeBytes) {
    throw new ServiceError(
      "out_of_range",
      `readOffset: is ${readOffset}, but the media has ${sizeBytes} bytes`,
      { reason: "OFFSET_OUT_OF_RANGE", metadata: { sizeBytes: `${sizeBytes}` } },
    );
  }
  const end = limit === 0 ? sizeBytes : Math.min(sizeBytes, start + limit);
  return end > start ? { start, end: end - 1 } : undefined;
}

function incomplete(): ServiceError {
  return new ServiceError("failed_precondition", "the job still waits for this content", {
    reason: "CONTENT_INCOMPLETE",
  });
}
