import { checkJobs } from "./check-jobs.ts";
import { checkMedia } from "./check-media.ts";
import { checkRemoved } from "./check-removed.ts";
import { checkSegments } from "./check-segments.ts";
import { checkStore } from "./check-store.ts";
import { checkTranscripts } from "./check-transcripts.ts";
import { checkUploads } from "./check-uploads.ts";
import { checkVersions } from "./check-versions.ts";
import type { Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks everything that the service stores, a page at a time: memory does not grow with the
 * archive. It may run next to a service: changes in progress are no findings. A remedy may be run
 * when its finding is yielded.
 */
export async function* checkArchive(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  yield* checkTranscripts(archive);
  yield* checkVersions(archive);
  yield* checkSegments(archive);
  // Media that is put back here is not missing there.
  yield* checkRemoved(archive);
  yield* checkMedia(archive);
  yield* checkStore(archive);
  yield* checkUploads(archive);
  yield* checkJobs(archive);
}
