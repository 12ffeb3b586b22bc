import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { databaseTrouble } from "../database/database-trouble.ts";
import {
  WatchTranscriptJobsResponseSchema,
  WatchTranscriptResponseSchema,
  type WatchTranscriptJobsRequest,
  type WatchTranscriptJobsResponse,
  type WatchTranscriptResponse,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { merged } from "../std/merged.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { transcriptIdIn } from "../transcripts/resource-names.ts";
import type { TranscriptWatchers } from "../transcripts/transcript-watchers.ts";
import type { WatchJobs } from "./watch-jobs.ts";

/** The maximum number of transcripts that one stream watches. */
export const transcriptsMax = 20;

/** The pauses before a transcript that could not be watched is watched again. Each is doubled. */
const pausesDefault = { firstMs: 1_000, msMax: 60_000 };

type Messages = AsyncGenerator<WatchTranscriptJobsResponse, void, undefined>;

/**
 * Creates the method that watches the jobs of an account and some of its transcripts with one
 * stream. Each transcript counts as a watch of the account. One that cannot be watched at the
 * moment is without states, and is tried again.
 */
export function createWatchAccount(
  watchJobs: WatchJobs,
  watchers: TranscriptWatchers,
  pauses = pausesDefault,
) {
  async function* statesOf(accountId: string, name: string, signal: AbortSignal): Messages {
    const message = (state: WatchTranscriptResponse): WatchTranscriptJobsResponse =>
      create(WatchTranscriptJobsResponseSchema, { update: true, transcripts: [{ name, state }] });
    for (let pauseMs = pauses.firstMs; ; pauseMs = Math.min(2 * pauseMs, pauses.msMax)) {
      try {
        const states = watchers.watch(accountId, transcriptIdIn(name), signal);
        for await (const state of states) {
          yield message(state);
          pauseMs = pauses.firstMs;
        }
        return;
      } catch (error) {
        if (isAbsent(error)) {
          yield message(create(WatchTranscriptResponseSchema, { deleted: true }));
          return;
        }
        // When the node stops, the watch of the jobs ends the stream.
        if (signal.aborted || !isTemporary(error)) throw error;
        await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
  }

  return async function* watchAccount(
    accountId: string,
    { filter, updatesOnly, transcripts }: WatchTranscriptJobsRequest,
    signal: AbortSignal,
  ): Messages {
    const names = [...new Set(transcripts)];
    if (names.length > transcriptsMax) {
      const description = `must have at most ${transcriptsMax} different names, not ${names.length}`;
      throw invalidArgument([{ field: "transcripts", description }]);
    }
    if (names.length === 0) {
      yield* watchJobs(accountId, filter, signal, { updatesOnly });
      return;
    }
    const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
    async function* jobs(ending: AbortSignal): Messages {
      try {
        for await (const message of watchJobs(accountId, filter, ending, { updatesOnly })) {
          yield message;
          if (!message.more) begin();
        }
      } finally {
        begin();
      }
    }
    // The jobs that exist already come first.
    async function* transcript(name: string, ending: AbortSignal): Messages {
      await hasBegun;
      if (!ending.aborted) yield* statesOf(accountId, name, ending);
    }
    yield* merged(
      (ending) => [jobs(ending), ...names.map((name) => transcript(name, ending))],
      signal,
    );
  };
}

function isAbsent(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === "TRANSCRIPT_NOT_FOUND";
}

/** Whether a watch that failed with this error may succeed later. */
function isTemporary(error: unknown): boolean {
  const known = error instanceof ServiceError ? error : databaseTrouble(error);
  return known !== undefined && temporaryCodes.has(known.code);
}

const temporaryCodes: ReadonlySet<string> = new Set([
  "resource_exhausted",
  "unavailable",
  "deadline_exceeded",
]);
