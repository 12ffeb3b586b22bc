import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { describe, test } from "node:test";
import { withBundledPackages } from "../../test/fixtures/bundled-program.ts";
import { toneWav } from "../../test/fixtures/jobs-fixture.ts";
import { openWorkerFixture, type WorkerFixture } from "../../test/fixtures/worker-fixture.ts";
import { until } from "../../test/fixtures/until.ts";

/**
 * The maximum time until the work is resumed: a lease is lost after 10 s, and the rest is a margin
 * for a busy machine.
 */
const resumedMsMax = 30_000;

/**
 * Generates a WAV file of thirty-five minutes and half a second, which is four pieces: 8 kHz, 8
 * bits, in steps of a third of a second.
 */
function longWav(): Buffer {
  const sampleCount = 2_100.5 * 8_000;
  const wav = Buffer.alloc(44 + sampleCount);
  wav.write("RIFF");
  wav.writeUInt32LE(36 + sampleCount, 4);
  wav.write("WAVEfmt ", 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8_000, 24);
  wav.writeUInt32LE(8_000, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write("data", 36);
  wav.writeUInt32LE(sampleCount, 40);
  for (let at = 44, step = 0; at < wav.length; at += 2_667, step++) {
    wav.subarray(at, at + 2_667).fill(128 + ((step * 37) % 200) - 100);
  }
  return wav;
}

/**
 * Runs a describer in its own process, which kills itself after it has stored this piece. Resolves
 * when the process has ended.
 */
async function dieWithPiece(fixture: WorkerFixture, number: number): Promise<void> {
  const program = new URL("../../test/fixtures/describer-process.ts", import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    [...withBundledPackages, program, fixture.folder, `${number}`],
    {
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  await once(child, "exit");
  assert.equal(child.signalCode, "SIGKILL");
}

/** The stored pieces, and the transaction that wrote each. */
async function piecesOf({ jobs }: WorkerFixture, mediaId: string) {
  const { rows } = await jobs.database.pool.query<{ peaks: Buffer; xmin: string }>(
    "select peaks, xmin::text from media_peaks where media_id = $1 order by number",
    [mediaId],
  );
  return rows;
}

async function mediaRow({ jobs }: WorkerFixture, mediaId: string) {
  const query = jobs.database.db.selectFrom("media").where("id", "=", mediaId);
  return await query
    .select(["duration_ms", "file_type", "peaks_count", "described_at", "problem"])
    .executeTakeFirstOrThrow();
}

async function waiting({ jobs }: WorkerFixture) {
  return await jobs.database.db.selectFrom("media_description").selectAll().execute();
}

async function untilDescribed(fixture: WorkerFixture, mediaId: string): Promise<void> {
  await until(async () => (await mediaRow(fixture, mediaId)).described_at !== null, 120_000);
}

describe("a describer that dies", { concurrency: true }, () => {
  test("another describer continues after one was killed, and the waveform equals that of an undisturbed run", async () => {
    await using fixture = await openWorkerFixture();
    const { jobs, account } = fixture;
    const wav = longWav();
    const mediaId = await jobs.addMedia(account, wav);
    await dieWithPiece(fixture, 1);
    const killedAt = performance.now();
    const kept = await piecesOf(fixture, mediaId);
    assert.equal(kept.length, 2);
    assert.equal((await mediaRow(fixture, mediaId)).peaks_count, null, "nothing is shown yet");

    let resumedMs = Number.POSITIVE_INFINITY;
    await using _describer = await jobs.openDescriber({
      onPiece(_id, number) {
        if (number === 0) resumedMs = Math.min(resumedMs, performance.now() - killedAt);
      },
    });
    await untilDescribed(fixture, mediaId);
    assert.ok(resumedMs < resumedMsMax, `${resumedMs} ms`);
    const all = await piecesOf(fixture, mediaId);
    assert.deepEqual(all.slice(0, 2), kept, "what was kept is not written again");
    const { described_at: _, ...facts } = await mediaRow(fixture, mediaId);
    assert.deepEqual(facts, {
      duration_ms: 2_100_500,
      file_type: "AUDIO",
      peaks_count: 42_010,
      problem: null,
    });

    const undisturbed = await jobs.addMedia(account, wav);
    await untilDescribed(fixture, undisturbed);
    const bytes = (pieces: typeof all): Buffer => Buffer.concat(pieces.map(({ peaks }) => peaks));
    assert.ok(bytes(all).equals(bytes(await piecesOf(fixture, undisturbed))));
    assert.ok(new Set(bytes(all)).size > 100, "the waveform is not empty");
    assert.deepEqual(await waiting(fixture), []);
    await until(async () => (await readdir(jobs.scratchFolder)).length === 0);
  });

  test("media that kills its worker three times is not attempted again, and other media is described", async () => {
    await using fixture = await openWorkerFixture();
    const { jobs, account } = fixture;
    const poison = await jobs.addMedia(account, toneWav([20]));
    for (let deaths = 0; deaths < 3; deaths++) {
      await dieWithPiece(fixture, 0);
      // The lease expires now, without a wait in the test.
      await jobs.database.pool.query("update media_description set due_at = now()");
    }
    const other = await jobs.addMedia(account, toneWav([30]));
    await using _describer = await jobs.openDescriber();
    await untilDescribed(fixture, other);
    const { peaks_count: pixels, problem } = await mediaRow(fixture, poison);
    assert.deepEqual([pixels, problem], [null, "MEDIA_POISON"]);
    assert.deepEqual(await piecesOf(fixture, poison), []);
    assert.deepEqual(await waiting(fixture), []);
  });
});
