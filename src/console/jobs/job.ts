import type {
  ListTranscriptJobsResponseJson,
  TranscriptJobJson,
  TranscriptMetadataJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { subjectOfUrl } from "../upload/subject-of.ts";

/** A job (§2.1) as the list shows it. */
export interface Job {
  /** The name, `transcriptjob/<id>`. */
  readonly name: string;
  readonly metadata: TranscriptMetadataJson;
  /** The upload with the media, as `uploads/<id>`; "" if the media came from a URL. */
  readonly upload: string;
  /** The transcript that gets a new version, `transcripts/<id>`; "" if the job makes one. */
  readonly newVersionOf: string;
  /** The name of the model; "" until it is known. */
  readonly model: string;
  /** About how many jobs were before it when it was read; undefined unless it waited. */
  readonly jobsBefore: number | undefined;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  readonly state: JobState;
}

export type JobState =
  /** The job waits, possibly for its content, or runs. */
  | { readonly kind: "PROCESSING"; readonly percent: number; readonly needsContent: boolean }
  /** The transcript, `transcripts/<id>`. */
  | { readonly kind: "SUCCESS"; readonly transcript: string }
  /** The google.rpc.Code, and the service's message. */
  | { readonly kind: "FAILED"; readonly code: number; readonly message: string };

/** Reads a job. The response to SubmitTranscriptJob has no state yet; such a job is waiting. */
export function jobOf(json: TranscriptJobJson): Job {
  const startedAt = new Date(json.startTime ?? 0);
  return {
    name: json.name ?? "",
    metadata: json.transcriptMetadata ?? {},
    upload: json.upload ?? "",
    newVersionOf: json.newVersionOf ?? "",
    model: json.model ?? "",
    jobsBefore: json.jobsBefore,
    startedAt,
    updatedAt: new Date(json.lastUpdatedTime ?? startedAt),
    state: stateOf(json),
  };
}

function stateOf({ state, progressPercent, transcript, error }: TranscriptJobJson): JobState {
  if (state === "SUCCESS") return { kind: "SUCCESS", transcript: transcript ?? "" };
  if (state === "ERROR" || state === "CANCELLED") {
    return { kind: "FAILED", code: error?.code ?? 2, message: error?.message ?? "" };
  }
  const needsContent = state === "WAITING_FOR_CONTENT";
  return { kind: "PROCESSING", percent: progressPercent ?? 0, needsContent };
}

/** The title of a job: its subject, its file name, or the last part of its URL; otherwise "". */
export function subjectOf({ metadata }: Job): string {
  const { subject = "", originalFilename = "", originalUri = "" } = metadata;
  return subject || originalFilename || (originalUri === "" ? "" : subjectOfUrl(originalUri));
}

/** Returns whether a google.rpc.Code is CANCELLED. */
export function isCancelled(code: number): boolean {
  return code === 1;
}

/** A page of the list, newest first. */
export interface JobListPage {
  readonly jobs: readonly Job[];
  /** The token of the next page; empty on the last page. */
  readonly nextToken: string;
}

/** Returns a page of the list. For the first page, `token` is empty. Throws ApiError. */
export async function listJobs(token: string, signal?: AbortSignal): Promise<JobListPage> {
  return await jobsAt(token === "" ? "" : `?pageToken=${encodeURIComponent(token)}`, signal);
}

/** Returns the page of the list for a query, such as "?pageSize=1000". Throws ApiError. */
export async function jobsAt(query: string, signal?: AbortSignal): Promise<JobListPage> {
  const { jobs = [], nextPageToken = "" } = await callApi<ListTranscriptJobsResponseJson>(
    `/v1alpha1/transcriptjob${query}`,
    signal ? { signal } : {},
  );
  return { jobs: jobs.map(jobOf), nextToken: nextPageToken };
}
