import { create } from "@bufbuild/protobuf";
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

type Messages = AsyncGenerator<WatchTranscriptJobsResponse, void, undefined>;

/**
 * Creates the method that watches the jobs of an account and some of its transcripts with one
 * stream. Each transcript counts as a watch of the account.
 */
export function createWatchAccount(watchJobs: WatchJobs, watchers: TranscriptWatchers) {
  async function* statesOf(accountId: string, name: string, signal: AbortSignal): Messages {
    const message = (state: WatchTranscriptResponse): WatchTranscriptJobsResponse =>
      create(WatchTranscriptJobsResponseSchema, { update: true, transcripts: [{ name, state }] });
    try {
      const states = watchers.watch(accountId, transcriptIdIn(name), signal);
      for await (const state of states) yield message(state);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      yield message(create(WatchTranscriptResponseSchema, { deleted: true }));
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
