import { checkAlignmentJobs } from "./check-alignment-jobs.ts";
import { checkDrafts } from "./check-drafts.ts";
import { checkShares } from "./check-shares.ts";
import { checkJobs } from "./check-jobs.ts";
import { checkMedia } from "./check-media.ts";
import { checkMediaOutputs } from "./check-media-outputs.ts";
import { checkRemoved } from "./check-removed.ts";
import { checkReviews } from "./check-reviews.ts";
import { checkSegments } from "./check-segments.ts";
import { checkStore } from "./check-store.ts";
import { checkTranscripts } from "./check-transcripts.ts";
import { checkUploads } from "./check-uploads.ts";
import { checkVersions } from "./check-versions.ts";
import { checkVocabularies } from "./check-vocabularies.ts";
import type { Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks everything that the service stores, one page at a time, so that memory use does not grow
 * with the archive. The check can run while the service runs: changes in progress are not reported.
 * The caller can run a remedy when it receives the finding.
 */
export async function* checkArchive(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  yield* checkTranscripts(archive);
  yield* checkVersions(archive);
  yield* checkSegments(archive);
  yield* checkDrafts(archive);
  yield* checkReviews(archive);
  yield* checkShares(archive);
  yield* checkVocabularies(archive);
  // Removed media is checked first, so that media that is restored here is not reported as missing.
  yield* checkRemoved(archive);
  yield* checkMedia(archive);
  yield* checkMediaOutputs(archive);
  yield* checkStore(archive);
  yield* checkUploads(archive);
  yield* checkJobs(archive);
  yield* checkAlignmentJobs(archive);
}
