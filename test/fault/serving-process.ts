import { NodeWatches } from "../../src/watches/node-watches.ts";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { ensureFirstAccount } from "../../src/accounts/first-account.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { createRefusedAttempts } from "../../src/auth/refused-attempts.ts";
import { databaseTrouble, openDatabase } from "../../src/database/database.ts";
import { contentJobs, openMedia, openPageTokens, transcriptsService } from "../../src/doors.ts";
import { Arrivals } from "../../src/jobs/arrivals.ts";
import { parseMediaAllowList } from "../../src/media/media-url.ts";
import { openServedArchive } from "../../src/media/open-served-archive.ts";
import { defaultAnswers } from "../../src/server/held-answers.ts";
import { openServer } from "../../src/server/server.ts";
import { createLog } from "../../src/std/log.ts";
import { openSegmentsReader } from "../../src/transcripts/segments-reader.ts";
import { openTestMeter } from "../fixtures/open-test-meter.ts";

/**
 * Runs the part of the service that stores transcripts and media, behind the real doors. The
 * process starts in a third of the time of the whole service, for tests that kill many processes.
 * Usage: `node serving-process.ts <data folder>`. The process ends when its standard input ends.
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

  const at = { address: "" };
  const publicUrl = () => at.address;
  const arrivals = new Arrivals();
  const media = await openMedia(
    { db, store, contentJobs: contentJobs(arrivals) },
    { publicUrl, uploadBytesMax: 100_000_000, log },
  );
  const pageTokens = await openPageTokens(db);
  await using meter = openTestMeter(db);
  await using longMessages = openSegmentsReader();
  const recognizer = {
    languageCodes: () => ["en-US"],
    modelName: () => "tones",
    takesHints: () => false,
    canDiarize: () => false,
    checkModelsKnown() {},
  };
  const transcripts = transcriptsService(
    { db, media, pageTokens, watches: new NodeWatches(db) },
    { answers: defaultAnswers(), attempts: createRefusedAttempts(() => 100), log },
    { arrivals, allow: parseMediaAllowList([]), recognizer, meter, log },
    {
      arrivals: new Arrivals(),
      aligner: { alignedLanguageCodes: () => [], checkModelsKnown() {} },
      meter,
      log,
    },
  );
  const authenticator = createAuthenticator({ db, publicUrl, log });
  await using server = await openServer(
    { host: "127.0.0.1", port: 0 },
    {
      api: { services: transcripts.services, authenticator, explain: databaseTrouble },
      traffic: { longMessages },
      ...transcripts.doors,
      log,
    },
  );
  at.address = server.address;
  process.stdout.write(`hlust: ready at ${server.address}\n`);
  // A killed process does not reach this line.
  flushCompileCache();
  for await (const _ of process.stdin) continue;
}

await serve();
