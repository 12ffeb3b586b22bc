import { create, toJson } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { RefusedAttempts } from "../auth/refused-attempts.ts";
import { readSecretToken, secretMatches } from "../auth/secret-token.ts";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import {
  SpeakerInfoSchema,
  TranscriptMetadataSchema,
  VersionSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import { timestampFromDate } from "../std/duration.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { StoredJson } from "../std/raw-field.ts";
import { ServiceError } from "../std/service-error.ts";
import { linksOf } from "./answer-transcript.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { ShareRates } from "./share-rates.ts";
import { findSharedWith, noteRead } from "./share-store.ts";
import { transcriptMessage } from "./transcript-message.ts";
import type { StoredTranscript } from "./transcript-store.ts";

export const sharePrefix = "hlust_share_";

/**
 * How long a URL of shared media works, so that a revoked share ends soon for those who play it.
 * The page requests a new URL when one has expired.
 */
const sharedUrlMs = 600_000;
const minuteMs = 60_000;
/** How often a link can be opened in a minute on each node, by all of its readers together. */
export const readingsPerMinuteMax = 300;

/** A transcript that a share shows, as JSON around its stored segments. */
export interface SharedTranscript {
  /** The account whose memory the answer takes. */
  readonly accountId: string;
  readonly head: string;
  readonly segments: StoredJson;
  readonly tail: string;
}

/** Returns the transcript of a share's token. Throws SHARE_NOT_FOUND for any other token. */
export type OpenShared = (
  token: string,
  reader: { readonly address: string; readonly signal: AbortSignal },
) => Promise<SharedTranscript>;

export interface SharedParts {
  readonly db: Kysely<Tables>;
  readonly read: ReadTranscript;
  readonly urls: SignedUrls;
  /** The rate limit for refused tokens: the same limit as for those of callers. */
  readonly attempts: RefusedAttempts;
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * Creates the function that reads with the token of a share. Readers without an account take few of
 * the turns in which long texts are read, and each link has a limit of its own, so that a link that
 * many use neither keeps the account's own callers waiting nor uses up their calls. Throws
 * TOO_MANY_REQUESTS above that limit.
 */
export function createOpenShared(parts: SharedParts): OpenShared {
  const { db, read, attempts, log, now = Date.now } = parts;
  const turns = new FairSemaphore({
    running: 2,
    runningOfOne: 1,
    waitingOfOne: 20,
    waitMsMax: 10_000,
    busyReason: "TRANSCRIPTS_BUSY",
  });
  const rates = new ShareRates(readingsPerMinuteMax);
  const findShare = async (token: string) => {
    const shown = readSecretToken(sharePrefix, token);
    const share = shown && (await findSharedWith(db, shown.id, databaseTime(parts.now)));
    return secretMatches(shown?.secret ?? "", share?.secret_hash) ? share : undefined;
  };
  return async (token, { address, signal }) => {
    const share = await attempts.attempt(address, token, async () => await findShare(token));
    if (!share) throw shareEnded();
    rates.count(share.id, now());
    const { account_id: accountId, transcript_id: id, version_id: versionId } = share;
    const stored = await turns.run(share.id, signal, async () =>
      read({ accountId, signal }, id, { versionId: versionId ?? undefined }),
    );
    if (!stored) throw shareEnded();
    const minute = new Date(Math.floor(now() / minuteMs) * minuteMs);
    // The reader does not wait for this write, and does not fail if it fails.
    if ((share.last_read_at?.getTime() ?? 0) < minute.getTime()) {
      noteRead(db, share.id, minute).catch((error: unknown) =>
        log.warn(errorFields(error), "share.read_not_noted"),
      );
    }
    const { with_media: withMedia, expires_at: expiresAt } = share;
    const validMs = Math.min(sharedUrlMs, expiresAt.getTime() - now());
    return { accountId, ...sharedJson(parts, stored, withMedia ? validMs : 0) };
  };
}

function shareEnded(): ServiceError {
  const problem = "this link is not valid: it may have expired or been revoked";
  return new ServiceError("not_found", problem, { reason: "SHARE_NOT_FOUND" });
}

/**
 * Writes the JSON of a Transcript that has only what a reader is shown: the subject, the language,
 * the names of speakers, the text with its times, and the media if `mediaMs` is not 0.
 */
function sharedJson(
  { urls }: Pick<SharedParts, "urls">,
  stored: StoredTranscript,
  mediaMs: number,
): Omit<SharedTranscript, "accountId"> {
  const links =
    mediaMs > 0
      ? linksOf({ urls: { sign: (grant) => urls.sign(grant, mediaMs) } }, stored)
      : { uri: "", waveformUri: "" };
  const { metadata, uri, version } = transcriptMessage(stored, links, []);
  const head = { metadata: metadata && toJson(TranscriptMetadataSchema, shownMetadata(metadata)) };
  const shownVersion = create(VersionSchema, {
    name: version?.name ?? "",
    creationTime: timestampFromDate(stored.version.createdAt),
  });
  const tail = { uri, version: toJson(VersionSchema, shownVersion) };
  return {
    head: `${JSON.stringify(head).slice(0, -1)},"segments":`,
    segments: stored.segments,
    tail: `,${JSON.stringify(tail).slice(1)}`,
  };
}

function shownMetadata(metadata: TranscriptMetadata): TranscriptMetadata {
  const { subject, languageCode, fileType, recordingDuration, waveformUri, speakers } = metadata;
  return create(TranscriptMetadataSchema, {
    subject,
    languageCode,
    fileType,
    waveformUri,
    ...(recordingDuration && { recordingDuration }),
    speakers: Object.fromEntries(
      Object.entries(speakers).map(([id, { fullName }]) => [
        id,
        create(SpeakerInfoSchema, { fullName }),
      ]),
    ),
  });
}
