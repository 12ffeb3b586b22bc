import { Readable } from "node:stream";
import type { Kysely } from "kysely";
import { createAccountsService } from "./accounts/accounts-service.ts";
import { createAlignmentService } from "./alignment/alignment-service.ts";
import { decodedSampleRate } from "./audio/decode.ts";
import type { Sandbox } from "./audio/sandbox.ts";
import { waveformJson } from "./audio/waveform.ts";
import type { Meter } from "./auth/meter.ts";
import type { RefusedAttempts } from "./auth/refused-attempts.ts";
import type { Config } from "./config.ts";
import type { Tables } from "./database/tables.ts";
import {
  createLongRunningRecognize,
  type LongRunningParts,
} from "./dialects/google/long-running-recognize.ts";
import { createOperations } from "./dialects/google/operations.ts";
import { signingKey } from "./database/signing-key.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import { ByteStream } from "./gen/google/bytestream/bytestream_pb.ts";
import { Speech as GoogleSpeech } from "./gen/google/cloud/speech/v1/speech_pb.ts";
import { Operations } from "./gen/google/longrunning/operations_pb.ts";
import { Accounts } from "./gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "./gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "./gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "./gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Speech as TiroSpeech } from "./gen/tiro/speech/v1alpha/speech_pb.ts";
import { Operator } from "./gen/hlust/operator/v1/operator_pb.ts";
import { Webhooks } from "./gen/hlust/webhooks/v1/webhooks_pb.ts";
import { createByteStream } from "./jobs/content/byte-stream.ts";
import type { ContentParts } from "./jobs/content/content-writer.ts";
import { startJobOf } from "./jobs/content/content-store.ts";
import type { Arrivals } from "./jobs/arrivals.ts";
import { createJobCalls } from "./jobs/job-calls.ts";
import { createJobsService } from "./jobs/jobs-service.ts";
import { findWaveform } from "./media/media-facts.ts";
import { findMedia } from "./media/media-records.ts";
import type { MediaStore } from "./media/media-store.ts";
import type { MediaAllowList } from "./media/media-url.ts";
import type { ContentJobs } from "./media/finish-upload.ts";
import { createSignedUrls, type SignedUrls } from "./media/signed-url.ts";
import { createResumableUploads } from "./media/resumable-uploads.ts";
import type { UploadCollector } from "./media/upload-collector.ts";
import { createUploads, type Uploads } from "./media/uploads.ts";
import { builtinCatalogue } from "./models/catalogue.ts";
import { createOperatorService } from "./operator/operator-service.ts";
import { implemented, type ImplementedService } from "./server/methods.ts";
import type { HttpDoor } from "./server/http.ts";
import type { ExportParts } from "./server/answer-export.ts";
import { createMediaDoor } from "./server/media-door.ts";
import { createSharedDoor } from "./server/shared-door.ts";
import type { TusParts } from "./server/tus-door.ts";
import { createSpeechDecoding, createSpeechService } from "./speech/speech-service.ts";
import type { Log } from "./std/log.ts";
import { createPageTokens, type PageTokens } from "./std/page-token.ts";
import { createReadTranscript } from "./transcripts/read-transcript.ts";
import { createSearchLimits } from "./transcripts/search-limits.ts";
import { createOpenShared } from "./transcripts/shared-transcript.ts";
import { createOpenExport } from "./transcripts/signed-exports.ts";
import { beginResumable } from "./transcripts/upload-methods.ts";
import { TranscriptWatchers } from "./transcripts/transcript-watchers.ts";
import { createTranscriptsService } from "./transcripts/transcripts-service.ts";
import type { AccountHints } from "./vocabulary/account-hints.ts";
import { createVocabularyService } from "./vocabulary/vocabulary-service.ts";
import type { NodeWatches } from "./watches/node-watches.ts";
import { createWebhooksService } from "./webhooks/webhooks-service.ts";
import { googleBetaSpeech, originalSpeech, originalTranscripts } from "./served-services.ts";

/** Returns the jobs that were submitted before their content, for the parts that receive it. */
export function contentJobs(arrivals: Pick<Arrivals, "announce">): ContentJobs {
  return { start: startJobOf, announce: () => arrivals.announce() };
}

/** Uploads and media, and their signed URLs. */
export interface MediaService {
  readonly store: MediaStore;
  readonly urls: SignedUrls;
  readonly uploads: Uploads;
  /** What is needed to receive the content of jobs. */
  readonly content: Omit<ContentParts, "db" | "store" | "log">;
  /** Creates the door of the signed URLs. */
  readonly door: (exports: ExportParts) => HttpDoor;
  /** The parts of resumable uploads. */
  readonly resumable: TusParts;
  /** Stores the media that came with a call. Returns the id of the upload that has it. */
  readonly storeMedia: LongRunningParts["storeMedia"];
  /** Returns the public address of the service. */
  readonly publicUrl: () => string;
}

/** Opens uploads and media. The key of the signed URLs is stored in the database. */
export async function openMedia(
  archive: {
    readonly db: Kysely<Tables>;
    readonly store: MediaStore;
    readonly collector?: UploadCollector | undefined;
    readonly contentJobs: ContentJobs;
  },
  options: {
    readonly publicUrl: () => string;
    readonly uploadBytesMax: number;
    readonly storedBytesMax?: number;
    readonly log: Log;
  },
): Promise<MediaService> {
  const { db, store, collector, contentJobs: waiting } = archive;
  const { publicUrl, log, ...limits } = options;
  const urls = createSignedUrls({ key: await signingKey(db, "signed-url"), publicUrl });
  const uploads = createUploads({
    db,
    store,
    urls,
    collector,
    contentJobs: waiting,
    ...limits,
    log,
  });
  const parts = {
    urls,
    uploads,
    store,
    findMedia: (id: string) => findMedia(db, id),
    async findWaveform(id: string) {
      const waveform = await findWaveform(db, id);
      return waveform && waveformJson({ ...waveform, sampleRate: decodedSampleRate });
    },
    log,
  };
  const resumable = createResumableUploads({ db, store, ...limits, log });
  return {
    store,
    urls,
    uploads,
    content: { ...limits, contentJobs: waiting },
    storeMedia: (...media) => storeMedia(uploads, limits, ...media),
    publicUrl,
    door: (exports) => createMediaDoor({ ...parts, ...exports }),
    resumable: {
      uploads: resumable,
      begin: (accountId, creation) => beginResumable(resumable, accountId, creation),
      method: Transcripts.method.initUpload,
      publicUrl,
      log,
    },
  };
}

async function storeMedia(
  uploads: Uploads,
  { uploadBytesMax }: { readonly uploadBytesMax: number },
  ...[accountId, parts, signal]: Parameters<MediaService["storeMedia"]>
): Promise<string> {
  const begun = await uploads.begin(accountId, null);
  if (!begun) throw new Error("an upload without a transcript was not begun");
  const bytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const room = await uploads.check(begun.id, bytes);
  await uploads.receive(begun.id, Readable.from(parts), { bytesMax: uploadBytesMax, room, signal });
  return begun.id;
}

/** Opens the page tokens, whose key is stored in the database. */
export async function openPageTokens(db: Kysely<Tables>): Promise<PageTokens> {
  return createPageTokens(await signingKey(db, "page-token"));
}

/** The parts that both halves of the Transcripts service use. */
interface TranscriptsBase {
  readonly db: Kysely<Tables>;
  readonly media: MediaService;
  readonly pageTokens: PageTokens;
  readonly watches: NodeWatches;
  /** The number of days that transcripts stay in the bin; 0: there is no bin. Default: 30. */
  readonly binDays?: number;
}

type Options<Parts> = Omit<
  Parts,
  | "db"
  | "store"
  | "urls"
  | "uploads"
  | "pageTokens"
  | "searchLimits"
  | "watches"
  | "transcriptWatchers"
  | "read"
  | "storedBytesMax"
  | "publicUrl"
  | "binDays"
>;

/**
 * The Transcripts service, also under its original name, the service for the content of jobs, and
 * the doors of media: `reading` is for the transcripts themselves, `jobs` for the jobs, `alignment`
 * for those that align words.
 */
export function transcriptsService(
  {
    db,
    media: { store, urls, uploads, content, door, resumable, storeMedia, publicUrl },
    pageTokens,
    watches,
    binDays,
  }: TranscriptsBase,
  reading: Options<Parameters<typeof createTranscriptsService>[0]> & {
    /** The node's maximum number of database connections. Default: 20. */
    readonly connectionsMax?: number;
    /** The rate limit for refused tokens. */
    readonly attempts: RefusedAttempts;
  },
  jobs: Options<Parameters<typeof createJobsService>[0]>,
  alignment: Options<Parameters<typeof createAlignmentService>[0]>,
): {
  readonly services: readonly ImplementedService[];
  /** What a method of another service submits jobs with. */
  readonly submitting: Omit<LongRunningParts, "recognizer">;
  readonly doors: {
    readonly media: HttpDoor;
    readonly shared: HttpDoor;
    readonly resumable: TusParts;
  };
} {
  const read = createReadTranscript({ db, ...reading });
  const both = {
    db,
    uploads,
    pageTokens,
    watches,
    transcriptWatchers: new TranscriptWatchers(db, watches),
    searchLimits: createSearchLimits({ db }),
  };
  const own = {
    storedBytesMax: content.storedBytesMax ?? 0,
    publicUrl,
    ...(binDays !== undefined && { binDays }),
  };
  const jobParts = { ...both, store, ...jobs };
  const calls = createJobCalls(jobParts);
  const service = implemented(Transcripts, {
    ...createTranscriptsService({ ...both, ...own, store, urls, read, ...reading }),
    ...createJobsService(jobParts),
    ...createAlignmentService({ db, pageTokens, ...alignment }),
  });
  const openShared = createOpenShared({ db, read, urls, ...reading });
  const byteStream = createByteStream({ db, store, log: jobs.log, ...content });
  return {
    services: [
      service,
      { ...service, service: originalTranscripts },
      implemented(ByteStream, byteStream),
      implemented(Operations, createOperations({ jobs: calls, read })),
    ],
    submitting: { jobs: calls, storeMedia },
    doors: {
      media: door({ openExport: createOpenExport({ db, read }), answers: reading.answers }),
      shared: createSharedDoor({ openShared, answers: reading.answers }),
      resumable,
    },
  };
}

/** The parts of recognition, which its services share. */
type SpeechParts = Parameters<typeof createSpeechService>[0] & {
  readonly recognizer: EnginePool;
  readonly meter: Meter;
};

/** The service of recognition under each name that clients call, and its parts. */
export function speechServices(
  {
    recognizer,
    sandbox,
    accountHints,
    submitting,
  }: {
    readonly recognizer: EnginePool;
    readonly sandbox: Sandbox;
    readonly accountHints: AccountHints;
    readonly submitting: Omit<LongRunningParts, "recognizer">;
  },
  meter: Meter,
  config: Pick<Config, "streamSecondsMax">,
): { readonly services: readonly ImplementedService[]; readonly parts: SpeechParts } {
  const limits = {
    get streamMsMax() {
      return config.streamSecondsMax * 1000;
    },
  };
  const decoding = createSpeechDecoding(sandbox);
  const models = () => recognizer.models();
  const speech: SpeechParts = { recognizer, models, limits, meter, decoding, accountHints };
  const own = implemented(Speech, createSpeechService(speech));
  const described = { ...speech, describeResults: true };
  // The number of END_OF_AUDIO is another event in google.cloud.speech.v1, and none in
  // tiro.speech.v1alpha.
  const ofGoogle = createSpeechService({ ...described, sendEndOfAudio: false });
  const longRunningRecognize = createLongRunningRecognize({ ...submitting, recognizer });
  const google = implemented(GoogleSpeech, { ...ofGoogle, longRunningRecognize });
  const services = [
    own,
    { ...own, service: originalSpeech },
    google,
    { ...google, service: googleBetaSpeech },
    implemented(TiroSpeech, createSpeechService(described)),
  ];
  return { services, parts: speech };
}

/** Creates the services for accounts, their vocabularies and webhooks, and for operators. */
export function accountServices(
  parts: {
    readonly db: Kysely<Tables>;
    readonly pageTokens: PageTokens;
    readonly publicUrl: () => string;
    readonly meter: Meter;
    readonly log: Log;
  },
  {
    allowWebhooks,
    settings: { accountLimits, catalogueFile = builtinCatalogue, mail },
  }: {
    readonly allowWebhooks: MediaAllowList;
    readonly settings: Pick<Config, "accountLimits" | "catalogueFile" | "mail">;
  },
): readonly ImplementedService[] {
  const accountMail = { isSent: mail.isSent, perDayMax: mail.perDayMax };
  return [
    implemented(Accounts, createAccountsService({ ...parts, mail: accountMail })),
    implemented(Vocabulary, createVocabularyService(parts)),
    implemented(Webhooks, createWebhooksService({ ...parts, allow: allowWebhooks })),
    implemented(Operator, createOperatorService({ ...parts, accountLimits, catalogueFile })),
  ];
}
