// A node with every role and its own PostgreSQL. All of its processes are killed in the middle of
// jobs, and it runs without disk space for the jobs' files.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.ts";
import { openMediaStore } from "../../src/media/open-media-store.ts";
import { createLog } from "../../src/std/log.ts";
import { flacOf } from "../fixtures/flac.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { until } from "../fixtures/until.ts";
import { chanceOf } from "./chance.ts";
import { fsckClean } from "./fsck-clean.ts";
import { HeldMedia } from "./held-media.ts";
import { JobLedger, type LedgerJob, type Recording } from "./job-ledger.ts";
import { assertTidy } from "./jobs-tidy.ts";
import { postgresOf, startService, treeOf, type ServiceProcess } from "./process.ts";
import { scriptedSamples } from "./scripted-recording.ts";
import { mountSmallDisk, withSmallDisk } from "./small-disk.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const chance = chanceOf(seed);
const diskBytes = 24_000_000;

/** Kills the service, its engines, its decoders and PostgreSQL at once (kill -9). */
async function killWhole({ pid }: ServiceProcess, data: string): Promise<void> {
  const all = [...treeOf(pid), ...postgresOf(data)].map((each) => each.pid);
  for (const each of all) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // A decoder may have ended in the meantime.
    }
  }
  await until(async () => treeOf(pid).length === 0 && postgresOf(data).length === 0);
}

/**
 * Asserts that a job fails for lack of disk space and is retried, and that it succeeds once space
 * is available again, or otherwise finally fails with that reason.
 */
async function withoutRoom(parts: {
  readonly disk: { fill(leftBytes: number): void; makeRoom(): void };
  readonly ledger: JobLedger;
  readonly recording: Recording;
  readonly failures: (job: LedgerJob) => number;
}): Promise<LedgerJob> {
  const { disk, ledger, recording, failures } = parts;
  disk.fill(0);
  const patient = await ledger.submit(recording);
  await until(async () => failures(patient) > 0, 60_000);
  disk.makeRoom();
  await ledger.ended();
  disk.fill(0);
  const failed = await ledger.submit(recording);
  await ledger.ended();
  disk.makeRoom();
  await ledger.submit(recording);
  return failed;
}

const timeout = 600_000;

test(
  `a node whose processes are all killed, and whose disk is full (FAULT_SEED=${seed})`,
  { timeout },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "hlust-alone-"));
    context.after(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const data = join(folder, "data");
    const scratch = join(data, "scratch");
    const place = { folder: scratch, bytes: diskBytes, file: import.meta.filename };
    await withSmallDisk(context, place, async (disk) => {
      const mediaDisk = mountSmallDisk(join(data, "media"), diskBytes);
      if (typeof mediaDisk === "string") throw new Error(mediaDisk);
      using _mounted = mediaDisk;
      const start = async () => startService(data, { HLUST_ENGINE: "scripted" });
      let service = await start();
      await using running = new AsyncDisposableStack();
      running.defer(async () => {
        await service.stop();
      });
      const bytes = wavOf(scriptedSamples([700, 2_300, 1_200], { pauseMs: 900 }));
      const heldBytes = wavOf(scriptedSamples([4_100, 900, 9_700], { pauseMs: 1_500 }));
      const held = new HeldMedia(heldBytes);
      await using host = await openMediaHost({ "/quick.wav": bytes, "/held.wav": held.listener });
      const quick = { name: "quick", uri: `${host.address}/quick.wav`, bytes };
      const uploaded = { name: "uploaded", bytes: flacOf(heldBytes) };
      const slow = { name: "held", uri: `${host.address}/held.wav`, bytes: heldBytes };
      const ledger = new JobLedger({ key: service.key, address: () => service.address }, chance);
      await ledger.learn([quick, uploaded, slow]);
      const failed = new Set<LedgerJob>();

      await ledger.during(async () => {
        await context.test("it resumes its jobs after all its processes are killed", async () => {
          for (let kill = 0; kill < 2; kill += 1) {
            held.hold();
            for (const recording of [slow, quick, uploaded]) await ledger.submit(recording);
            await until(async () => held.waiting > 0);
            const more = Promise.all([quick, uploaded].map(async (each) => ledger.submit(each)));
            await killWhole(service, data);
            held.release();
            service = await start();
            await more;
            await ledger.submitAgain(4);
          }
          await ledger.ended();
        });

        await context.test("it recovers from a full disk for job files or media", async () => {
          const failures = (job: LedgerJob): number => {
            const id = job.name.split("/")[1] ?? "";
            const lines = service.output().errors.split("\n");
            return lines.filter((line) => line.includes(id) && line.includes("STORAGE_FULL"))
              .length;
          };
          failed.add(await withoutRoom({ disk, ledger, recording: uploaded, failures }));
          failed.add(await withoutRoom({ disk: mediaDisk, ledger, recording: slow, failures }));
          await ledger.ended();
        });
      });

      await ledger.verify(
        (job, message) => failed.has(job) && /no room|store is full/.test(message),
      );
      assert.equal(await service.stop(), 0);
      const log = createLog("silent");
      const postgres = join(data, "postgres");
      await using database = await openDatabase({ url: undefined, folder: postgres, log });
      await using store = await openMediaStore({ dataFolder: data, s3: undefined }, { log });
      assert.deepEqual(readdirSync(join(data, "media/unfinished")), [], "unfinished media");
      await assertTidy({ database, store, scratchFolders: [scratch] });
      await fsckClean(data);
    });
  },
);
