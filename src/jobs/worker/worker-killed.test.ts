import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { withBundledPackages } from "../../../test/fixtures/bundled-program.ts";
import { samplesOfWav } from "../../../test/fixtures/flite.ts";
import {
  firstTone,
  jobRequest,
  toneModel,
  toneRecognizer,
  toneWav,
} from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { onceWithin, until } from "../../../test/fixtures/until.ts";
import { WaveformMaker } from "../../audio/waveform.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { findWaveform } from "../../media/media-facts.ts";
import { findOutputs, readOutputs } from "../../media/media-outputs.ts";
import { sweepMedia } from "../../media/sweep-media.ts";
import { createLog } from "../../std/log.ts";

/**
 * The maximum time until a job continues. A lease is due after 10 s, and the job is leased with the
 * next poll; the rest is a reserve for a busy machine.
 */
const resumedMsMax = 15_000;

/** A worker in a separate process. */
class WorkerProcess implements AsyncDisposable {
  /** The words of each piece that the worker began. */
  readonly recognized: string[] = [];
  readonly child: ChildProcess;
  readonly #gone: Promise<unknown>;

  constructor(
    folder: string,
    options: { readonly pieceMs: number; readonly deadly?: string; readonly texts?: string },
  ) {
    const program = new URL("../../../test/fixtures/worker-process.ts", import.meta.url).pathname;
    const parameters = [
      ...withBundledPackages,
      program,
      folder,
      `${options.pieceMs}`,
      options.deadly ?? "",
      options.texts ?? "",
    ];
    const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"] });
    createInterface({ input: child.stdout }).on("line", (line) => this.recognized.push(line));
    this.child = child;
    this.#gone = once(child, "exit");
  }

  async gone(): Promise<void> {
    await this.#gone;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.#gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGCONT");
    this.child.kill("SIGTERM");
    await this.#gone;
  }
}

async function transcriptCount(fixture: WorkerFixture): Promise<number> {
  const rows = await fixture.jobs.database.db.selectFrom("transcript").select("id").execute();
  return rows.length;
}

/** Lets the leases expire without a wait in the test. */
async function loseLeases(fixture: WorkerFixture): Promise<void> {
  const { pool } = fixture.jobs.database;
  await pool.query("update transcript_job set due_at = now() where lease > 0");
}

/** Returns the number of programs that decode scratch files of this test. */
async function decoders(fixture: WorkerFixture): Promise<number> {
  let count = 0;
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes(fixture.jobs.scratchFolder)) count++;
  }
  return count;
}

/**
 * Kills a worker, and then the next one. Returns the time after which the job of the first worker
 * continued.
 */
async function followTheKilled(): Promise<number> {
  await using fixture = await openWorkerFixture();
  const words = numbers(300);
  await using first = new WorkerProcess(fixture.folder, { pieceMs: 700 });
  const name = await fixture.submit("/tone.wav", toneWav(words));
  await until(async () => first.recognized.length >= 3);
  await using second = new WorkerProcess(fixture.folder, { pieceMs: 700 });
  const killedAt = performance.now();
  await first.kill();
  await until(async () => (await decoders(fixture)) === 0);
  await until(async () => second.recognized.length > 0);
  const resumedMs = performance.now() - killedAt;
  // The next worker is also killed, and another one continues.
  await until(async () => second.recognized.length >= 3);
  await using third = new WorkerProcess(fixture.folder, { pieceMs: 50 });
  await second.kill();
  await loseLeases(fixture);
  const job = await fixture.jobs.ended(fixture.account, name);
  const { text } = await fixture.transcriptOf(job);
  assert.equal(text, words.join(" "));
  assert.equal(await transcriptCount(fixture), 1);
  const { media } = await fixture.transcriptOf(job);
  const { db } = fixture.jobs.database;
  // The outputs of all pieces are kept, whichever worker recognized them.
  const outputs = await findOutputs(db, media.id ?? "", toneModel);
  assert.ok(outputs);
  const parts = await readOutputs(db, outputs, { startMs: 0, endMs: outputs.durationMs });
  assert.ok(parts.length > 3);
  const kept = parts.map(({ bytes }) => Buffer.from(bytes).toString()).join("");
  assert.equal(kept, `${words.join(" ")} `);
  const waveform = await findWaveform(db, media.id ?? "");
  const pieces = waveform ? await Array.fromAsync(waveform.sections) : [];
  const maker = new WaveformMaker(16_000);
  assert.deepEqual(maker.push(samplesOfWav(toneWav(words))), []);
  assert.deepEqual(pieces, [maker.end()]);
  for (const [earlier, later] of [
    [first, second],
    [second, third],
  ] as const) {
    const again = later.recognized.filter((piece) => earlier.recognized.includes(piece));
    assert.ok(again.length <= 2, "only what was being recognized is recognized again");
  }
  await third[Symbol.asyncDispose]();
  await fixture.isTidy();
  return resumedMs;
}

describe("a worker that dies", { concurrency: true }, () => {
  test("another worker continues a job from its pieces within 15 s after its worker was killed", async () => {
    await onceWithin(resumedMsMax, followTheKilled);
  });

  test("the written text of a job is the same after its worker was killed, also where pieces cut numbers", async () => {
    await using fixture = await openWorkerFixture();
    const { jobs, account, folder, url } = fixture;
    const texts = "það kostar tvö hundruð og fimmtíu krónur hún kemur tuttugasta og fyrsta janúar";
    const tones = texts.split(" ").map((_, at) => firstTone + at);
    const count = 20;
    const wav = toneWav(Array.from({ length: count }, () => tones).flat(), 130 * 16);
    fixture.serve("/written.wav", wav);
    const request = {
      ...jobRequest(`${url}/written.wav`, {}, "is-IS"),
      enableFormatting: true,
      enableAutomaticPunctuation: true,
    };
    const name = await jobs.submit(account, request);
    const killed = new WorkerProcess(folder, { pieceMs: 700, texts });
    await until(async () => killed.recognized.length >= 3);
    await killed.kill();
    await loseLeases(fixture);
    await using _next = await jobs.openWorker(toneRecognizer({ texts: texts.split(" ") }));
    const { text, words } = await fixture.transcriptOf(await jobs.ended(account, name));
    const whole = await jobs.ended(account, await jobs.submit(account, request));
    const expected = await fixture.transcriptOf(whole);
    assert.equal(text, expected.text);
    assert.deepEqual(words, expected.words);
    const sentence = "það kostar 250 kr. hún kemur 21. janúar ";
    assert.equal(text, `Þ${sentence.repeat(count).trim().slice(1)}.`);
    // The words as they were spoken.
    const plain = await jobs.ended(
      account,
      await jobs.submit(account, jobRequest(`${url}/written.wav`, {}, "is-IS")),
    );
    const spoken = words.map((each) => each.spoken ?? each.word.trim().replace(/\.$/, ""));
    const bare = (await fixture.transcriptOf(plain)).text;
    assert.equal(spoken.join(" ").toLowerCase(), bare);
    assert.equal(bare, `${texts} `.repeat(count).trim());
  });

  test("a recording that is transcribed again gets one version, although its worker was killed", async () => {
    await using fixture = await openWorkerFixture();
    const { jobs, account, folder } = fixture;
    const words = numbers(200);
    const submitted = await fixture.submit("/tone.wav", toneWav(words));
    const worker = await jobs.openWorker(toneRecognizer());
    const { transcript = "" } = await jobs.ended(account, submitted);
    await worker[Symbol.asyncDispose]();
    const request = { ...jobRequest(""), transcript, useUri: false, uri: "" };
    const name = await jobs.submit(account, request);
    const killed = new WorkerProcess(folder, { pieceMs: 700 });
    await until(async () => killed.recognized.length >= 3);
    await killed.kill();
    await loseLeases(fixture);
    await using _next = await jobs.openWorker(toneRecognizer());
    const job = await jobs.ended(account, name);
    assert.equal(job.transcript, transcript);
    assert.equal((await fixture.transcriptOf(job)).text, words.join(" "));
    const { db } = jobs.database;
    const versions = await db
      .selectFrom("transcript_version")
      .select(["kind", "parent_id"])
      .execute();
    assert.deepEqual(
      versions.map(({ kind }) => kind),
      ["RECOGNIZED", "RECOGNIZED"],
    );
    assert.equal(versions.filter(({ parent_id }) => parent_id !== null).length, 1);
    await fixture.isTidy();
  });

  test("a worker that was stopped for longer than its lease changes nothing when it continues", async () => {
    await using fixture = await openWorkerFixture();
    const words = numbers(200);
    await using sleeper = new WorkerProcess(fixture.folder, { pieceMs: 700 });
    const name = await fixture.submit("/tone.wav", toneWav(words));
    await until(async () => sleeper.recognized.length >= 3);
    sleeper.child.kill("SIGSTOP");
    await using _second = new WorkerProcess(fixture.folder, { pieceMs: 50 });
    const job = await fixture.jobs.ended(fixture.account, name);
    const { text, version } = await fixture.transcriptOf(job);
    assert.equal(text, words.join(" "));
    sleeper.child.kill("SIGCONT");
    // The worker leases another job only after it has dropped this one.
    const next = await fixture.submit("/next.wav", toneWav([40]));
    await fixture.jobs.ended(fixture.account, next);
    await sleeper[Symbol.asyncDispose]();
    assert.equal(await transcriptCount(fixture), 2);
    const after = await fixture.jobs.get(fixture.account, name);
    assert.deepEqual(after, job);
    assert.equal((await fixture.transcriptOf(after)).version.id, version.id);
  });

  test("a job that kills its worker three times ends as ERROR, and other jobs succeed", async () => {
    await using fixture = await openWorkerFixture();
    const poison = await fixture.submit("/poison.wav", toneWav([10, 99, 10]));
    const words = numbers(100);
    const bystander = await fixture.submit("/tone.wav", toneWav(words));
    for (let deaths = 0; deaths < 3; deaths++) {
      await using worker = new WorkerProcess(fixture.folder, { pieceMs: 100, deadly: "99" });
      await worker.gone();
      assert.equal(worker.child.signalCode, "SIGKILL");
      await loseLeases(fixture);
    }
    await using worker = new WorkerProcess(fixture.folder, { pieceMs: 0, deadly: "99" });
    const job = await fixture.jobs.ended(fixture.account, poison);
    assert.equal(job.state, State.ERROR);
    assert.equal(job.error?.code, 13);
    assert.match(job.error?.message ?? "", /the worker stopped 3 times on this recording/);
    const other = await fixture.jobs.ended(fixture.account, bystander);
    assert.equal((await fixture.transcriptOf(other)).text, words.join(" "));
    await worker[Symbol.asyncDispose]();
    // A worker that dies between the last byte of a fetch and its row leaves bytes, which the sweep
    // of the service finds.
    const { database, store } = fixture.jobs;
    const now = (): number => Date.now() + 3_600_000;
    await sweepMedia({ db: database.db, store, log: createLog("silent"), now });
    await fixture.isTidy();
  });
});
