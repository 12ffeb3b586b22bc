import { createAccountsService } from "./accounts/accounts-service.ts";
import { decodedSampleRate } from "./audio/decode.ts";
import { waveformJson } from "./audio/waveform.ts";
import type { Meter } from "./auth/meter.ts";
import { ConfigError, type Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { signingKey } from "./database/signing-key.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import { Speech as GoogleSpeech } from "./gen/google/cloud/speech/v1/speech_pb.ts";
import { Accounts } from "./gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "./gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "./gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "./gen/hlust/webhooks/v1/webhooks_pb.ts";
import type { Arrivals } from "./jobs/arrivals.ts";
import { createJobsService } from "./jobs/jobs-service.ts";
import { findWaveform } from "./media/media-facts.ts";
import { findMedia } from "./media/media-records.ts";
import type { MediaStore } from "./media/media-store.ts";
import type { MediaAllowList } from "./media/media-url.ts";
import { createSignedUrls } from "./media/signed-url.ts";
import type { UploadCollector } from "./media/upload-collector.ts";
import { createUploads } from "./media/uploads.ts";
import { readHttpRulesFile } from "./server/http-rules-file.ts";
import { implemented, type ImplementedService } from "./server/methods.ts";
import type { TargetDoor } from "./server/server.ts";
import { createMediaDoor } from "./server/media-door.ts";
import { createSpeechService } from "./speech/speech-service.ts";
import type { HeldBytes } from "./std/held-bytes.ts";
import type { Log } from "./std/log.ts";
import { ServiceConfigError, type ServiceConfig } from "./transcoding/service-config.ts";
import { createPageTokens } from "./std/page-token.ts";
import { createTranscriptsService } from "./transcripts/transcripts-service.ts";
import { createWebhooksService } from "./webhooks/webhooks-service.ts";

/** The services that have HTTP rules. */
const contract = [Transcripts, Speech, GoogleSpeech, Accounts, Webhooks];

/**
 * The rules that take the place of the contract's (§4.10 item 9). Throws ConfigError with every
 * problem and its place.
 */
export async function httpRulesOf({ httpRulesFile }: Config): Promise<ServiceConfig | undefined> {
  if (httpRulesFile === undefined) return undefined;
  try {
    return await readHttpRulesFile(httpRulesFile, contract);
  } catch (error) {
    if (!(error instanceof ServiceConfigError)) throw error;
    const problems = error.problems.map((problem) => `\n  ${problem}`);
    throw new ConfigError(`HLUST_HTTP_RULES cannot be used:${problems.join("")}`, { cause: error });
  }
}

/** The services of the contract, and the door for media. */
export async function openDoors(
  config: Config,
  parts: {
    readonly database: Database;
    readonly store: MediaStore;
    readonly collector: UploadCollector | undefined;
    readonly arrivals: Arrivals;
    readonly allow: MediaAllowList;
    readonly allowWebhooks: MediaAllowList;
    readonly recognizer: EnginePool;
    readonly meter: Meter;
    readonly publicUrl: () => string;
    /** What answers hold in memory, and what watches do. */
    readonly answers: HeldBytes;
    readonly watches: HeldBytes;
    readonly stopping: AbortSignal;
    readonly log: Log;
  },
): Promise<{ services: ImplementedService[]; media: TargetDoor }> {
  const { database, store, collector, arrivals, allow, recognizer, publicUrl, log } = parts;
  const { stopping, meter } = parts;
  const { db } = database;
  const urls = createSignedUrls({ key: await signingKey(db, "signed-url"), publicUrl });
  const pageTokens = createPageTokens(await signingKey(db, "page-token"));
  const { uploadBytesMax, streamSecondsMax, accountLimits } = config;
  const { storedBytes: storedBytesMax } = accountLimits;
  const taking = { db, store, uploadBytesMax, storedBytesMax, log };
  const uploads = createUploads({ ...taking, urls, collector });
  const languageCodes = () => recognizer.languageCodes("job");
  const transcripts = {
    ...createTranscriptsService({
      db,
      store,
      urls,
      uploads,
      pageTokens,
      answers: parts.answers,
      connectionsMax: config.database.connectionsMax,
      log,
    }),
    ...createJobsService({
      db,
      arrivals,
      uploads,
      pageTokens,
      allow,
      languageCodes,
      meter,
      watches: parts.watches,
      stopping,
    }),
  };
  const models = () => recognizer.models();
  const speech = { recognizer, models, limits: { streamMsMax: streamSecondsMax * 1000 }, meter };
  return {
    services: [
      implemented(Transcripts, transcripts),
      implemented(Speech, createSpeechService(speech)),
      implemented(GoogleSpeech, createSpeechService({ ...speech, describeResults: true })),
      implemented(Accounts, createAccountsService({ db, meter, pageTokens, log })),
      implemented(
        Webhooks,
        createWebhooksService({ db, pageTokens, allow: parts.allowWebhooks, log }),
      ),
    ],
    media: createMediaDoor({
      urls,
      uploads,
      store,
      findMedia: (id) => findMedia(db, id),
      async findWaveform(id) {
        const waveform = await findWaveform(db, id);
        return waveform && waveformJson({ ...waveform, sampleRate: decodedSampleRate });
      },
      log,
    }),
  };
}
