import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { ensureFirstAccount } from "../../src/accounts/first-account.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { databaseTrouble, openDatabase } from "../../src/database/database.ts";
import { signingKey } from "../../src/database/signing-key.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openJobQueue } from "../../src/jobs/job-queue.ts";
import { createJobsService } from "../../src/jobs/jobs-service.ts";
import { findMedia } from "../../src/media/media-records.ts";
import { parseMediaAllowList } from "../../src/media/media-url.ts";
import { openServedArchive } from "../../src/media/open-served-archive.ts";
import { createSignedUrls } from "../../src/media/signed-url.ts";
import { createUploads } from "../../src/media/uploads.ts";
import { implemented } from "../../src/server/methods.ts";
import { defaultAnswers } from "../../src/server/held-answers.ts";
import { openServer } from "../../src/server/server.ts";
import { createMediaDoor } from "../../src/server/media-door.ts";
import { createLog } from "../../src/std/log.ts";
import { createPageTokens } from "../../src/std/page-token.ts";
import { openSegmentsReader } from "../../src/transcripts/segments-reader.ts";
import { createTranscriptsService } from "../../src/transcripts/transcripts-service.ts";
import { openTestMeter } from "../fixtures/open-test-meter.ts";

/**
 * The part of the service that keeps transcripts and media, behind the real doors, in a process
 * that starts in a third of the time of the whole: for tests that kill many. `node
 * serving-process.ts <data folder>`; it ends with its standard input.
 */
async function serve(): Promise<void> {
  const [dataFolder = ""] = process.argv.slice(2);
  const log = createLog("error");
  const folder = join(dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log });
  const { db } = database;
  const settings = { dataFolder, database: { url: undefined }, s3: undefined };
  const sweeping = { isQuarantined: false, removedDays: 30 };
  await using archive = await openServedArchive(settings, { db, log, ...sweeping });
  const { store } = archive;
  await ensureFirstAccount({ db, dataFolder, log });
  await using queue = await openJobQueue({ database, log, supervise: false });

  const at = { address: "" };
  const publicUrl = () => at.address;
  const urls = createSignedUrls({ key: await signingKey(db, "signed-url"), publicUrl });
  const pageTokens = createPageTokens(await signingKey(db, "page-token"));
  const uploads = createUploads({ db, store, urls, uploadBytesMax: 100_000_000, log });
  await using meter = openTestMeter(db);
  const allow = parseMediaAllowList([]);
  await using longMessages = openSegmentsReader();
  const transcripts = {
    ...createTranscriptsService({
      db,
      store,
      urls,
      uploads,
      pageTokens,
      answers: defaultAnswers(),
      log,
    }),
    ...createJobsService({
      db,
      queue,
      uploads,
      pageTokens,
      allow,
      languageCodes: () => [],
      meter,
    }),
  };
  await using server = await openServer({
    host: "127.0.0.1",
    port: 0,
    services: [implemented(Transcripts, transcripts)],
    longMessages,
    media: createMediaDoor({
      urls,
      uploads,
      store,
      findMedia: (id) => findMedia(db, id),
      findWaveform: () => Promise.resolve(undefined),
      log,
    }),
    authenticator: createAuthenticator({ db, publicUrl, log }),
    readiness: [],
    explain: databaseTrouble,
    log,
  });
  at.address = server.address;
  process.stdout.write(`hlust: ready at ${server.address}\n`);
  // Who is killed does not come to it.
  flushCompileCache();
  for await (const _ of process.stdin) continue;
}

await serve();
