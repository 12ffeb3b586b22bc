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
 * Looks at all that the service keeps, a page at a time: memory does not grow with the archive.
 * Also beside a service that runs: what is under way is no finding. A remedy may be run when its
 * finding comes.
 */
export async function* checkArchive(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  yield* checkTranscripts(archive);
  yield* checkVersions(archive);
  yield* checkSegments(archive);
  // What is put back here is not missing there.
  yield* checkRemoved(archive);
  yield* checkMedia(archive);
  yield* checkStore(archive);
  yield* checkUploads(archive);
  yield* checkJobs(archive);
}
