// `hlust backup` and `hlust restore` as programs, while callers of a service create, change,
// replace and delete transcripts and media.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openArchive } from "../../src/media/open-archive.ts";
import { ArchiveWriter, type Target } from "../fault/archive-writer.ts";
import { chanceOf } from "../fault/chance.ts";
import { fsckClean } from "../fault/fsck-clean.ts";
import { postgresOf } from "../fault/process.ts";
import { keyOf, startServing, type Serving } from "../fault/serving.ts";
import { contentOf } from "../fixtures/archive-content.ts";
import { testCard, writeModel } from "../fixtures/model-fixture.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";

const seed = Number(process.env["BACKUP_SEED"] ?? 22);
const kills = Number(process.env["BACKUP_KILLS"] ?? 6);

let folder: string;
let data: string;
let target: string;
let serving: Serving;
let at: Target;
let writers: readonly ArchiveWriter[];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-backup-"));
  data = join(folder, "data");
  target = join(folder, "backups");
  writeModel(join(data, "models/noted"), testCard("noted"));
  serving = await startServing(data);
  at = { address: serving.address, key: keyOf(data) };
  writers = [1, 2, 3].map((id) => new ArchiveWriter(at, id, chanceOf(seed + id)));
});
after(async () => {
  await serving.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Lets all writers write while `act` runs. */
async function whileWriting<T>(act: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const before = writers.map(({ counts }) => counts.answered);
  const writing = Promise.all(writers.map((writer) => writer.write(stop.signal)));
  writing.catch(() => {});
  try {
    await until(async () => {
      return writers.every(({ counts }, at) => counts.answered >= (before[at] ?? 0) + 20);
    }, 60_000);
    return await act();
  } finally {
    stop.abort();
    await writing;
  }
}

async function hlust(args: readonly string[], dataFolder = data) {
  return await runHlust(args, { HLUST_DATA: dataFolder });
}

async function makeBackup(...options: string[]): Promise<string> {
  const ended = await hlust(["backup", target, "--json", ...options]);
  assert.equal(ended.code, 0, `${ended.out}${ended.errors}`);
  const made: { folder: string } = JSON.parse(ended.out);
  return made.folder;
}

/** How long the last restore took. */
let restoreMs = 0;

/** Restores a backup into a new data folder, which is checked, and returns the folder. */
async function restoreTo(name: string, backup: string): Promise<string> {
  const restored = join(folder, name);
  await seedPostgres(join(restored, "postgres"));
  const began = performance.now();
  const ended = await hlust(["restore", backup], restored);
  restoreMs = performance.now() - began;
  assert.equal(ended.code, 0, `${ended.out}${ended.errors}`);
  assert.match(ended.out, /\nInstall the models: noted \(1\)\.\n/);
  assert.match(ended.out, /\nNothing is wrong: /);
  return restored;
}

/** Verifies each backup that has the name of a whole one, except the known ones. */
async function verifyOthers(known: Set<string>): Promise<void> {
  for (const name of readdirSync(target)) {
    if (!name.endsWith("Z") || known.has(name)) continue;
    known.add(name);
    const verified = await hlust(["backup", "verify", join(target, name)]);
    assert.equal(verified.code, 0, `${verified.out}${verified.errors}`);
  }
}

describe("hlust backup", () => {
  it("makes whole backups while callers write, which restore without a flaw", async () => {
    const backups = await whileWriting(async () => [await makeBackup(), await makeBackup()]);
    for (const backup of backups) {
      const verified = await hlust(["backup", "verify", backup]);
      assert.deepEqual([verified.code, verified.errors], [0, ""], verified.out);
      assert.equal(statSync(backup).mode & 0o777, 0o700);
    }
    const restored = await restoreTo("restored-first", backups[0] ?? "");
    // It reads the bytes of all media, and compares them with the restored rows.
    await fsckClean(restored);
    rmSync(restored, { recursive: true });
  });

  it("contains every row and all media, and everything that a caller was answered", async () => {
    const backup = await makeBackup();
    const restored = await restoreTo("restored", backup);
    const settings = { database: { url: undefined }, s3: undefined };
    await using original = await openArchive({ ...settings, dataFolder: data });
    await using copy = await openArchive({ ...settings, dataFolder: restored });
    assert.deepEqual(copy.quarantine, []);
    const expected = await contentOf(original.db, original.store);
    assert.ok((expected["bytes of media"]?.length ?? 0) > 0);
    const found = await contentOf(copy.db, copy.store);
    // What the original has aside its rows is not restored: bytes whose deletion was deferred.
    const kept = new Set(found["media"]?.map((row) => JSON.parse(row).id));
    expected["bytes of media"] =
      expected["bytes of media"]?.filter((line) => kept.has(line.split(" ")[0])) ?? [];
    assert.deepEqual(found, expected);

    const second = await startServing(restored);
    const before = at.address;
    at.address = second.address;
    for (const writer of writers) await writer.verify();
    at.address = before;
    await second.stop();
    rmSync(restored, { recursive: true });
  });

  it("links the media of the backup before, and keeps the newest backups", async () => {
    const [, last] = [await makeBackup(), await hlust(["backup", target, "--keep", "1"])];
    assert.match(
      last.out,
      /whole, as of .* [1-9]\d* media of .* \([1-9]\d* as before, 0 linked, 0 copied\)/,
    );
    assert.match(last.out, /Deleted the backup /);
    assert.match(last.out, /contains signing keys/);
    const list = await hlust(["backup", "list", target]);
    assert.equal(list.code, 0);
    assert.match(list.out, /^\S+Z +whole, by Hlust [^\n]*\n$/);
  });

  it(`is whole or named as not, whenever it is killed (${kills} times)`, async () => {
    const chance = chanceOf(seed);
    const began = performance.now();
    await makeBackup();
    const wholeMs = performance.now() - began;
    const known = new Set<string>();
    await whileWriting(async () => {
      for (let kill = 0; kill < kills; kill += 1) {
        const afterMs = (wholeMs * (1 + chance.below(100))) / 100;
        const ended = await runHlust(["backup", target], { HLUST_DATA: data }, (child) => {
          setTimeout(() => child.kill("SIGKILL"), afterMs);
        });
        assert.ok(ended.code === null || ended.code === 0, ended.errors);
        await verifyOthers(known);
      }
    });
    const list = await hlust(["backup", "list", target]);
    for (const line of list.out.trimEnd().split("\n")) {
      assert.match(line, /^\S+\.partial +not whole|^\S+Z +whole/);
    }
    const last = await makeBackup();
    const left = readdirSync(target).filter((name) => name.endsWith(".partial"));
    assert.deepEqual(left, [], "the next backup removes what killed ones have left");
    const restored = await restoreTo("after-kills", last);
    await fsckClean(restored);
    assert.ok(existsSync(join(restored, "media/hlust-archive")));
  });

  it("is whole or fails in words when the service or its database is killed meanwhile", async () => {
    const chance = chanceOf(seed + 10);
    const began = performance.now();
    await makeBackup();
    const wholeMs = performance.now() - began;
    const known = new Set(readdirSync(target));
    const killDatabase = async () => {
      const postmaster = postgresOf(data).find(({ command }) => /bin\/postgres -D/.test(command));
      process.kill(postmaster?.pid ?? assert.fail("no postmaster"), "SIGKILL");
    };
    const killService = async () => {
      await serving.kill();
      serving = await startServing(data);
      at.address = serving.address;
    };
    for (const kill of [killService, killDatabase]) {
      await whileWriting(async () => {
        const killed = Promise.withResolvers<void>();
        const afterMs = (wholeMs * (50 + chance.below(45))) / 100;
        const ended = await runHlust(["backup", target], { HLUST_DATA: data }, () => {
          setTimeout(() => void kill().then(killed.resolve, killed.reject), afterMs);
        });
        await killed.promise;
        if (ended.code !== 0) {
          assert.equal(ended.code, 2, ended.errors);
          assert.match(ended.errors, /^hlust: \S.*\n$/m);
          assert.doesNotMatch(ended.errors, /^ {4}at /m);
        }
        await verifyOthers(known);
        await until(async () => (await hlust(["backup", target])).code === 0, 60_000);
      });
      for (const writer of writers) await writer.verify();
    }
  });

  it("is restored by the same command after the restore was killed several times", async (context) => {
    const backup = await makeBackup();
    const restored = join(folder, "killed-restore");
    await seedPostgres(join(restored, "postgres"));
    const finished = join(restored, "media/finished");
    const hasMedia = async () => readdirSync(finished, { recursive: true }).length > 1;
    const inTime = [() => until(hasMedia), () => delay(restoreMs / 3), () => delay(restoreMs / 2)];
    const ends: (number | null)[] = [];
    for (const untilThen of inTime) {
      const ended = await runHlust(["restore", backup], { HLUST_DATA: restored }, (child) => {
        void untilThen().then(() => child.kill("SIGKILL"));
      });
      ends.push(ended.code);
    }
    context.diagnostic(`exit codes: ${ends.join(", ")}`);
    const last = await hlust(["restore", backup], restored);
    if (last.code === 0) assert.match(last.out, /\nNothing is wrong: /);
    else {
      // It was killed after its last commit.
      assert.match(last.errors, /is not empty: it (?:has rows|belongs to the archive)/);
    }
    assert.equal(ends[0], null, "it was killed while it stored media");
    await fsckClean(restored);
  });
});
