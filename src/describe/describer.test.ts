import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { noise, samplesOfWav } from "../../test/fixtures/flite.ts";
import { toneWav, wavOf, type JobsFixture } from "../../test/fixtures/jobs-fixture.ts";
import { openWorkerFixture, type WorkerFixture } from "../../test/fixtures/worker-fixture.ts";
import { until } from "../../test/fixtures/until.ts";
import { WaveformMaker } from "../audio/waveform.ts";
import { releaseMedia } from "../media/media-records.ts";

let fixture: WorkerFixture;
let jobs: JobsFixture;
before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
});
after(() => fixture[Symbol.asyncDispose]());

const add = async (bytes: Buffer): Promise<string> => await jobs.addMedia(fixture.account, bytes);

async function rowOf(mediaId: string) {
  return await jobs.database.db
    .selectFrom("media")
    .where("id", "=", mediaId)
    .select(["duration_ms", "file_type", "peaks_count", "described_at", "problem", "sha256"])
    .executeTakeFirst();
}

async function described(mediaId: string) {
  await until(async () => (await rowOf(mediaId))?.described_at instanceof Date);
  const row = await rowOf(mediaId);
  return {
    durationMs: row?.duration_ms,
    fileType: row?.file_type,
    pixels: row?.peaks_count,
    problem: row?.problem,
  };
}

async function peaksOf(mediaId: string): Promise<Buffer> {
  const rows = await jobs.database.db
    .selectFrom("media_peaks")
    .where("media_id", "=", mediaId)
    .orderBy("number")
    .select("peaks")
    .execute();
  return Buffer.concat(rows.map(({ peaks }) => peaks));
}

async function waiting() {
  return await jobs.database.db.selectFrom("media_description").selectAll().execute();
}

/** Makes all waiting media due immediately, without a wait in the test. */
async function makeDue(): Promise<void> {
  await jobs.database.pool.query("update media_description set due_at = now()");
}

function waveformOf(samples: Int16Array): Buffer {
  const maker = new WaveformMaker(16_000);
  const pieces = [...maker.push(samples), maker.end() ?? new Int8Array()];
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece.buffer, 0, piece.length)));
}

/** A recording of three pieces. */
const recording = wavOf(noise(1_300_000, 20_000));

/** Creates a file with ffmpeg from these inputs. */
async function made(name: string, ...parameters: string[]): Promise<Buffer> {
  const file = join(fixture.folder, name);
  execFileSync("ffmpeg", ["-nostdin", "-v", "error", "-y", ...parameters, file]);
  return await readFile(file);
}

const sound = ["-f", "lavfi", "-i", "sine=f=400:r=16000:d=2"];
const pictures = ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:d=2"];

test("media is described by its streams, regardless of the container", async () => {
  const wav = wavOf(noise(1_275, 20_000));
  const cover = await made("cover.png", ...pictures, "-frames:v", "1");
  assert.ok(cover.length > 0);
  const attached = ["-i", join(fixture.folder, "cover.png"), "-map", "0", "-map", "1"];
  const rows: [name: string, bytes: Buffer, fileType: string, durationMs: number][] = [
    ["wav", wav, "AUDIO", 1_275],
    ["mp3", await made("a.mp3", ...sound), "AUDIO", 2_000],
    [
      "mp3 with a cover",
      await made("c.mp3", ...sound, ...attached, "-disposition:v", "attached_pic"),
      "AUDIO",
      2_000,
    ],
    ["mp4", await made("a.mp4", ...pictures, ...sound, "-c:v", "mpeg4"), "VIDEO", 2_000],
    ["webm", await made("a.webm", ...pictures, ...sound, "-c:v", "vp8"), "VIDEO", 2_000],
  ];
  await using _describer = await jobs.openDescriber();
  for (const [name, bytes, fileType, durationMs] of rows) {
    const mediaId = await add(bytes);
    const facts = await described(mediaId);
    assert.equal(facts.problem, null, name);
    assert.equal(facts.fileType, fileType, name);
    assert.ok(Math.abs((facts.durationMs ?? 0) - durationMs) <= 60, `${name} ${facts.durationMs}`);
    assert.equal(facts.pixels, Math.ceil((facts.durationMs ?? 0) / 50), name);
    assert.equal((await peaksOf(mediaId)).length, 2 * (facts.pixels ?? 0), name);
    if (name === "wav") {
      assert.deepEqual(await peaksOf(mediaId), waveformOf(samplesOfWav(bytes)));
      assert.equal(facts.durationMs, 1_275);
    }
  }
  assert.deepEqual(await waiting(), []);
});

test("media that cannot be described gets a problem, and is not attempted again", async () => {
  const silentVideo = await made("silent.mp4", ...pictures, "-c:v", "mpeg4");
  const cut = wavOf(noise(3_000, 20_000)).subarray(0, 40_000);
  const rows: [name: string, bytes: Buffer, problem: string][] = [
    ["a text", Buffer.from("not a sound at all, and rather long for what it is"), "MEDIA_INVALID"],
    ["nothing", Buffer.alloc(0), "MEDIA_INVALID"],
    ["pictures", silentVideo, "MEDIA_NO_AUDIO"],
    ["too long", wavOf(noise(5_100, 100)), "MEDIA_TOO_LONG"],
    ["cut short", cut, "MEDIA_TRUNCATED"],
  ];
  await using _describer = await jobs.openDescriber({ durationMsMax: 5_000 });
  for (const [name, bytes, problem] of rows) {
    const mediaId = await add(bytes);
    const nothing = { durationMs: null, fileType: null, pixels: null };
    assert.deepEqual(await described(mediaId), { ...nothing, problem }, name);
    assert.equal((await peaksOf(mediaId)).length, 0, name);
    assert.equal(await jobs.store.sizeBytes(mediaId), bytes.length, "the media stays");
  }
  assert.deepEqual(await waiting(), []);
});

test("failures that are unrelated to the media are retried later, and do not count as attempts", async () => {
  const scratchFolder = join(fixture.folder, "not-there");
  await using _describer = await jobs.openDescriber({ scratchFolder });
  await rm(scratchFolder, { recursive: true });
  const mediaId = await add(toneWav([10]));
  for (let failures = 1; failures <= 4; failures++) {
    await until(async () => {
      const [waits] = await waiting();
      const isReleased = waits !== undefined && waits.due_at.getTime() > Date.now() + 15_000;
      // A lease and its release each increase the number.
      return waits?.lease === 2 * failures && isReleased && waits.tries === 0;
    });
    if (failures === 4) await mkdir(scratchFolder);
    await makeDue();
  }
  assert.equal((await described(mediaId)).problem, null);
});

test("media that fails for an unknown reason is attempted three times", async () => {
  let attempts = 0;
  await using _describer = await jobs.openDescriber({
    onPiece() {
      attempts++;
      throw new Error("a bug");
    },
  });
  const mediaId = await add(toneWav([10]));
  await until(async () => {
    await makeDue();
    return (await rowOf(mediaId))?.problem === "INTERNAL";
  });
  assert.equal(attempts, 3);
  assert.deepEqual(await waiting(), []);
});

test("a describer that is closed releases its media immediately, and the attempt does not count", async () => {
  const { promise: began, resolve } = Promise.withResolvers<void>();
  const mediaId = await add(recording);
  const describer = await jobs.openDescriber({ onPiece: () => resolve() });
  await began;
  await describer[Symbol.asyncDispose]();
  const [given] = await waiting();
  assert.equal(given?.media_id, mediaId);
  assert.equal(given.tries, 0);
  assert.ok(given.due_at.getTime() <= Date.now());
  assert.equal((await readdir(jobs.scratchFolder)).length, 0);
  await using _next = await jobs.openDescriber();
  assert.equal((await described(mediaId)).pixels, 26_000);
});

test("media that is deleted while it is being described leaves nothing behind", async () => {
  const { promise: began, resolve } = Promise.withResolvers<void>();
  const mediaId = await add(recording);
  await using _describer = await jobs.openDescriber({ onPiece: () => resolve() });
  await began;
  const { db } = jobs.database;
  assert.ok(await db.transaction().execute(async (trx) => await releaseMedia(trx, mediaId)));
  const next = await add(toneWav([10]));
  assert.equal((await described(next)).problem, null, "the describer continues with the next");
  assert.equal((await peaksOf(mediaId)).length, 0);
  assert.deepEqual(await waiting(), []);
});

test("a describer that has lost its lease to another describer changes nothing", async () => {
  const { pool } = jobs.database;
  const mediaId = await add(recording);
  const take = "update media_description set lease = 7, due_at = now() + interval '1 h'";
  let taken: Promise<unknown> | undefined;
  await using _describer = await jobs.openDescriber({
    onPiece() {
      taken ??= pool.query(take);
    },
  });
  await until(async () => taken !== undefined);
  await taken;
  const next = await add(toneWav([10]));
  assert.equal((await described(next)).problem, null, "the describer continues with the next");
  assert.equal((await rowOf(mediaId))?.described_at, null);
  assert.equal((await waiting()).length, 1);
  await makeDue();
  assert.equal((await described(mediaId)).pixels, 26_000);
});

test("two describers share the waiting media", async () => {
  const media = await Promise.all(Array.from({ length: 8 }, async (_, n) => add(toneWav([n + 5]))));
  const took: string[] = [];
  const onPiece = (mediaId: string) => took.push(mediaId);
  await using _first = await jobs.openDescriber({ onPiece });
  await using _second = await jobs.openDescriber({ onPiece });
  for (const mediaId of media) assert.equal((await described(mediaId)).problem, null);
  assert.deepEqual(took.toSorted(), media.toSorted(), "each is described once");
});

test("the hash of media that had not been read before is stored", async () => {
  const bytes = toneWav([10, 20]);
  const mediaId = await add(bytes);
  const { db } = jobs.database;
  await db.updateTable("media").set({ sha256: null }).where("id", "=", mediaId).execute();
  await using _describer = await jobs.openDescriber();
  assert.equal((await described(mediaId)).problem, null);
  const { sha256 } = (await rowOf(mediaId)) ?? {};
  assert.deepEqual(sha256, createHash("sha256").update(bytes).digest());
});
