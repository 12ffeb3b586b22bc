import type { QueuedUpload } from "./upload-queue.ts";

/** The overall progress, 0 to 100, by bytes. */
export function percentSent(uploads: readonly QueuedUpload[]): number {
  const total = uploads.reduce((sum, { file }) => sum + file.size, 0);
  const sent = uploads.reduce((sum, upload) => sum + sentBytesOf(upload), 0);
  return total === 0 ? 0 : (100 * sent) / total;
}

function sentBytesOf({ state, file }: QueuedUpload): number {
  if (state.kind === "SENDING") return state.sentBytes;
  return state.kind === "SUBMITTING" ? file.size : 0;
}
