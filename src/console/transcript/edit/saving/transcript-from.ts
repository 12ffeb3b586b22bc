import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { offlineError } from "../../../api/api-error.ts";
import { type Call, sendApi } from "../../../api/call-api.ts";
import { inSlices } from "./in-slices.ts";
import { jsonSteps } from "./json-steps.ts";

/**
 * Calls a method of the API that returns a transcript, and reads the response without a long task
 * of the page, since a user is typing. Throws ApiError.
 */
export async function transcriptFrom(path: string, call: Call): Promise<TranscriptJson> {
  const response = await sendApi(path, call);
  try {
    const text = await textOf(response);
    return await inSlices(jsonSteps<TranscriptJson>(text, "segments"));
  } catch {
    // The connection was lost, or something between the page and the service responded instead.
    throw offlineError();
  }
}

/** Reads the text of a response as it arrives. text() decodes all of it in one task. */
async function textOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    pieces.push(decoder.decode(part.value, { stream: true }));
  }
  return pieces.join("") + decoder.decode();
}
