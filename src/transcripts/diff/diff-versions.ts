import { create, fromJson } from "@bufbuild/protobuf";
import { DurationSchema, type Duration } from "@bufbuild/protobuf/wkt";
import {
  TranscriptDiffSchema,
  TranscriptMetadataSchema,
  WordRun_Kind as Kind,
  type TranscriptDiff,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { runInWorkerThread } from "../worker-threads.ts";
import type { StoredTranscript } from "../transcript-store.ts";
import { compareWords, type RunFacts, type Times } from "./compare-words.ts";
import { metadataChanges } from "./metadata-changes.ts";

/**
 * The maximum number of runs in a response. More would block the thread that writes the response.
 */
const runsMax = 1_000;

/** Compares a version with another version or with an empty version. */
export async function diffVersions(
  before: StoredTranscript | undefined,
  after: StoredTranscript,
  {
    skip,
    accountId,
    signal,
  }: { readonly skip: number; readonly accountId: string; readonly signal: AbortSignal },
): Promise<TranscriptDiff> {
  const comparison = {
    before: before?.segments ?? null,
    after: after.segments,
    skip,
    runsMax,
  };
  const bytes = after.segments.jsonBytes + (before?.segments.jsonBytes ?? 0);
  const words = await runInWorkerThread(compareWords, comparison, {
    bytes,
    accountId,
    signal,
    transfer: [after, before].flatMap((stored) => (stored ? [stored.segments.jsonZstd] : [])),
  });
  return create(TranscriptDiffSchema, {
    version: after.version.id,
    against: before?.version.id ?? "",
    wordsKept: words.counts.KEPT,
    wordsRetimed: words.counts.RETIMED,
    wordsAdded: words.counts.ADDED,
    wordsRemoved: words.counts.REMOVED,
    wordsRespoken: words.respoken,
    wordsResegmented: words.resegmented,
    runCount: words.runCount,
    runs: words.runs.map(runMessage),
    metadataChanges: metadataChanges(
      before?.metadata ?? create(TranscriptMetadataSchema),
      after.metadata,
    ),
  });
}

function runMessage({ kind, times, againstTimes, ...facts }: RunFacts) {
  const [own, against] = [durations(times), durations(againstTimes)];
  return {
    ...facts,
    kind: Kind[kind],
    ...(own && { startTime: own.start, endTime: own.end }),
    ...(against && { againstStartTime: against.start, againstEndTime: against.end }),
  };
}

function durations(times: Times | undefined): { start: Duration; end: Duration } | undefined {
  if (!times) return undefined;
  return {
    start: fromJson(DurationSchema, times.start),
    end: fromJson(DurationSchema, times.end),
  };
}
