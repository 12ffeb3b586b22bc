// kill -9 of the serving process and of its PostgreSQL in the middle of writes: every acknowledged
// write is preserved, and no write is applied in part.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../spec/jobs.ts";
import { callRest } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import { ArchiveWriter, type Target } from "./archive-writer.ts";
import { chanceOf, type Chance } from "./chance.ts";
import { fsckClean } from "./fsck-clean.ts";
import { postgresOf } from "./process.ts";
import { keyOf, startServing, type Serving } from "./serving.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const kills = Number(process.env["FAULT_KILLS"] ?? 64);
const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
/** The number of archives: while one restarts, another is killed. */
const archives = 2;
const writersOfArchive = 4;
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-kills-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

test(
  `every acknowledged write survives ${kills} kills (FAULT_SEED=${seed})`,
  { timeout: (60_000 + kills * 3_000) * cpuSlowness },
  async () => {
    const share = Math.ceil(kills / archives);
    await Promise.all(
      Array.from({ length: archives }, async (_, at) => {
        await killAndVerify(join(folder, `${at}`), share, seed + at * 1_000);
      }),
    );
  },
);

/** Kills processes in the middle of writes to a data folder, then reads all of the data. */
async function killAndVerify(data: string, share: number, ownSeed: number): Promise<void> {
  const chance = chanceOf(ownSeed);
  const turn = chance.below(2);
  const stop = new AbortController();
  let serving = await startServing(data);
  let spare = startAnyhow(data, stop.signal);
  await using running = new AsyncDisposableStack();
  running.defer(async () => {
    stop.abort();
    await (await spare)?.stop();
    await serving.stop();
  });
  const target: Target = { address: serving.address, key: keyOf(data) };
  const writers = Array.from({ length: writersOfArchive }, (_, id) => {
    return new ArchiveWriter(target, id, chanceOf(ownSeed + id + 1));
  });
  const writing = Promise.all(writers.map((writer) => writer.write(stop.signal))).finally(() => {
    stop.abort();
  });
  // The caller that awaits this promise gets the error at the end.
  writing.catch(() => {});

  const answered = () => writers.reduce((sum, { counts }) => sum + counts.answered, 0);
  for (let kill = 1; kill <= share; kill += 1) {
    const before = answered();
    await until(async () => stop.signal.aborted || answered() > before + 2, 60_000);
    // A service that is still starting would end with its database, and start again.
    const next = await spare;
    if (!next || stop.signal.aborted) break;
    await delay(chance.below(30));
    // The service and its PostgreSQL are killed equally often.
    if ((kill + turn) % 2 === 0) {
      await serving.kill();
      serving = next;
      target.address = next.address;
      spare = startAnyhow(data, stop.signal);
    } else {
      killPostgres(data, chance);
    }
  }
  stop.abort();
  await writing;
  await verifyAll(target, writers);
  const unanswered = writers.reduce((sum, { counts }) => sum + counts.unanswered, 0);
  assert.ok(unanswered > share / 2, `${unanswered} writes were in flight in ${share} kills`);
  await fsckClean(data);
}

/**
 * Starts a serving process, however often its database is killed in the meantime. Returns undefined
 * if the process is no longer needed.
 */
async function startAnyhow(data: string, signal: AbortSignal): Promise<Serving | undefined> {
  while (!signal.aborted) {
    const serving = await startServing(data).catch(() => undefined);
    if (serving) return serving;
  }
  return undefined;
}

/**
 * Kills a process of the data folder's PostgreSQL, usually a backend, which serves a connection.
 */
function killPostgres(data: string, chance: Chance): void {
  const which = chance.oneOf([
    ...Array.from({ length: 8 }, () => /postgres: .*hlust postgres/),
    /bin\/postgres -D/,
    /postgres: .*(walwriter|checkpointer)/,
  ]);
  const found = postgresOf(data).filter(({ command }) => which.test(command));
  if (found.length > 0) process.kill(chance.oneOf(found).pid, "SIGKILL");
}

/**
 * Asserts that everything that the writers recorded exists unchanged. Everything else was never
 * acknowledged, and must be complete.
 */
async function verifyAll(target: Target, writers: readonly ArchiveWriter[]): Promise<void> {
  const listed = await listAll(target);
  for (const writer of writers) {
    const { names, maybe } = await writer.verify();
    for (const name of names) assert.ok(listed.delete(name), `${name} is not listed`);
    for (const [name, subject] of listed) {
      const content = maybe.get(subject);
      if (!content) continue;
      const call = { method: "GET", path: `/v1alpha1/${name}` };
      const { json } = await callRest(target.address, target.key, call);
      assert.equal(textOf(json), content.text);
      assert.equal(json.version.parent, "");
      listed.delete(name);
    }
  }
  assert.deepEqual([...listed], [], "unknown transcripts");
}

/**
 * Returns the names of all transcripts, with their subjects, as soon as the database is available
 * again.
 */
async function listAll({ address, key }: Target): Promise<Map<string, string>> {
  const listed = new Map<string, string>();
  for (let token = ""; ;) {
    const path = `/v1alpha1/transcripts?pageSize=1000&pageToken=${encodeURIComponent(token)}`;
    const call = { method: "GET", path };
    let answer = await callRest(address, key, call);
    await until(async () => {
      if (answer.status !== 200) answer = await callRest(address, key, call);
      return answer.status === 200;
    });
    for (const { name, metadata } of answer.json.transcripts) listed.set(name, metadata.subject);
    token = answer.json.nextPageToken;
    if (token === "") return listed;
  }
}
