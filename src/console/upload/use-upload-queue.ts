import { useUploads } from "./uploads.tsx";
import { UploadQueue } from "./upload-queue.ts";

/** Returns the queue of uploads, for pages that add files to it or remove them. */
export function useUploadQueue(): UploadQueue {
  return useUploads().queue.open(UploadQueue);
}
