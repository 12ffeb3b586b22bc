import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { chooseSandbox } from "../../src/audio/sandbox.ts";
import { openDatabase } from "../../src/database/database.ts";
import { Arrivals } from "../../src/jobs/arrivals.ts";
import { JobMedia } from "../../src/jobs/worker/job-media.ts";
import { openWorker } from "../../src/jobs/worker/worker.ts";
import { openMediaStore } from "../../src/media/open-media-store.ts";
import { createLog } from "../../src/std/log.ts";
import { loopbackAllowed, toneRecognizer } from "../fixtures/jobs-fixture.ts";
import { openTestMeter } from "../fixtures/open-test-meter.ts";

/**
 * Runs the part of a worker node that runs jobs. The process starts in half the time of a whole
 * node, for tests that kill many processes. Usage: `node working-process.ts <data folder> <ms per
 * piece>`. The log is written to standard error, and standard output has a line for each piece that
 * the process begins. The process ends when its standard input ends.
 */
async function work(): Promise<void> {
  const [dataFolder = "", pieceMs = "0"] = process.argv.slice(2);
  const log = createLog("info");
  const folder = join(dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log });
  await using store = await openMediaStore({ dataFolder, s3: undefined }, { log });
  await using meter = openTestMeter(database.db);
  const onPiece = (): void => {
    process.stdout.write("piece\n");
  };
  const { db } = database;
  const media = new JobMedia(
    { db, store, scratchFolder: join(dataFolder, "scratch"), log },
    { allow: loopbackAllowed, keepMedia: true, mediaBytesMax: 100_000_000 },
  );
  await using _worker = await openWorker({
    db,
    arrivals: new Arrivals(),
    media,
    recognition: {
      sandbox: await chooseSandbox("auto", log),
      recognizer: toneRecognizer({ pieceMs: Number(pieceMs), onPiece }),
      durationMsMax: 3_600_000,
    },
    meter,
    parallelism: 1,
    log,
  });
  process.stdout.write("ready\n");
  // Writes the compile cache now, because a killed process does not write it at exit.
  flushCompileCache();
  for await (const _ of process.stdin) continue;
}

await work();
