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
 * Checks everything that the service stores, a page at a time, so that memory does not grow with
 * the archive. It can run while the service runs: changes in progress are not findings. The caller
 * can run a remedy when it gets the finding.
 */
export async function* checkArchive(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  yield* checkTranscripts(archive);
  yield* checkVersions(archive);
  yield* checkSegments(archive);
  // First, so that media that is restored here is not reported as missing.
  yield* checkRemoved(archive);
  yield* checkMedia(archive);
  yield* checkStore(archive);
  yield* checkUploads(archive);
  yield* checkJobs(archive);
}
