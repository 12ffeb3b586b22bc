// kill -9 of workers in the middle of jobs: each job ends once, with the text and times of an
// undisturbed run.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { openMediaStore } from "../../src/media/open-media-store.ts";
import { createLog } from "../../src/std/log.ts";
import { flacOf } from "../fixtures/flac.ts";
import { toneWav } from "../fixtures/jobs-fixture.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { openTestService } from "../spec/service.ts";
import { numbers } from "../fixtures/worker-fixture.ts";
import { chanceOf } from "./chance.ts";
import { Crew } from "./crew.ts";
import { fsckClean } from "./fsck-clean.ts";
import { JobLedger, type Recording } from "./job-ledger.ts";
import { slowly } from "./slowly.ts";
import { assertTidy } from "./jobs-tidy.ts";
import type { Phase } from "./working.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const kills = Number(process.env["FAULT_JOB_KILLS"] ?? 50);
const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const workers = 3;
const pieceMs = 150;
const deathsMax = 2;
const waitMsMax = 15_000;
const lateMsMax = 200;
const phases: readonly Phase[] = ["fetching", "fetched", "recognizing"];

/**
 * Opens recordings of one piece, a few pieces and several pieces, which are fetched slowly, fetched
 * quickly, and uploaded.
 */
async function openRecordings() {
  const short = toneWav(numbers(6));
  const middle = toneWav(numbers(30), 9_000);
  const long = flacOf(toneWav(numbers(110)));
  const host = await openMediaHost({
    "/short.wav": short,
    "/middle.wav": slowly(middle, 200),
    "/long.flac": slowly(long, 200),
  });
  const recordings: readonly Recording[] = [
    { name: "short", uri: `${host.address}/short.wav`, bytes: short },
    { name: "middle", uri: `${host.address}/middle.wav`, bytes: middle },
    { name: "long", uri: `${host.address}/long.flac`, bytes: long },
    { name: "uploaded", bytes: flacOf(middle) },
  ];
  return { host, recordings };
}

test(
  `every job survives ${kills} kills of workers (FAULT_SEED=${seed})`,
  { timeout: (300_000 + kills * 20_000) * cpuSlowness },
  async (context) => {
    const chance = chanceOf(seed);
    await using service = await openTestService({ HLUST_ROLE: "api", HLUST_ENGINE: "scripted" });
    const { dataFolder: data } = service;
    const { host, recordings } = await openRecordings();
    await using _host = host;
    const ledger = new JobLedger({ key: service.key, address: () => service.address }, chance);
    await using crew = new Crew(data, {
      workers,
      pieceMs,
      deathsMax,
      waitMsMax,
      lateMsMax,
      chance,
    });
    await crew.start();
    await ledger.learn(recordings);
    const feed = async () => {
      if (ledger.jobs.length - crew.begunCount() < workers) {
        await ledger.submit(chance.oneOf(recordings));
      }
    };
    await ledger.during(async (signal) => {
      for (let kill = 0; kill < kills && !signal.aborted; kill += 1) {
        await crew.kill(phases[kill % phases.length] ?? "ended", feed);
        if (kill % 5 === 0) await ledger.submitAgain();
      }
      await ledger.ended();
    });
    await crew[Symbol.asyncDispose]();
    context.diagnostic(`${ledger.jobs.length} jobs; killed while ${JSON.stringify(crew.killed)}`);
    const log = createLog("silent");
    const folder = join(data, "postgres");
    await using database = await openDatabase({ url: undefined, folder, log });
    const tries = await readAttempts(database);
    await ledger.verify(({ name }, message) => {
      return /the worker stopped 3 times/.test(message) && (tries.get(name) ?? 0) > 3;
    });
    await using store = await openMediaStore({ dataFolder: data, s3: undefined }, { log });
    assert.deepEqual(readdirSync(join(data, "media/unfinished")), [], "unfinished media");
    await assertTidy({ database, store, scratchFolders: [join(data, "scratch")] });
    await fsckClean(data);
  },
);

/** Returns the number of attempts of each job, by name. */
async function readAttempts({ db }: Pick<Database, "db">): Promise<Map<string, number>> {
  const rows = await db.selectFrom("transcript_job").select(["id", "tries"]).execute();
  return new Map(rows.map(({ id, tries }) => [`transcriptjob/${id}`, tries]));
}
