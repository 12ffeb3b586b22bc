// Runs `hlust fsck` as a program while a service writes, and after damage.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openDatabase } from "../src/database/database.ts";
import { createLog } from "../src/std/log.ts";
import { ArchiveWriter } from "./fault/archive-writer.ts";
import { chanceOf } from "./fault/chance.ts";
import { fsckClean } from "./fault/fsck-clean.ts";
import { keyOf, startServing } from "./fault/serving.ts";
import { runHlust } from "./fixtures/run-hlust.ts";

let data: string;
before(() => {
  data = mkdtempSync(join(tmpdir(), "hlust-fsck-"));
});
after(() => {
  rmSync(data, { recursive: true, force: true });
});

const fsck = async (...args: string[]) => await runHlust(["fsck", ...args], { HLUST_DATA: data });

test("hlust fsck reports no errors while a service writes, and does not disturb the service", async () => {
  const serving = await startServing(data);
  const stop = new AbortController();
  const target = { address: serving.address, key: keyOf(data) };
  const writers = [1, 2, 3].map((id) => new ArchiveWriter(target, id, chanceOf(id)));
  const writing = Promise.all(writers.map((writer) => writer.write(stop.signal)));
  writing.catch(() => {});
  for (let round = 0; round < 3; round += 1) await fsckClean(data);
  stop.abort();
  await writing;
  for (const writer of writers) {
    assert.ok(writer.counts.answered > 0);
    assert.equal(writer.counts.unanswered, 0);
    await writer.verify();
  }
  await serving.stop();
});

test("hlust fsck lists errors and exits with 1, and exits with 0 after repairs", async () => {
  {
    const postgres = join(data, "postgres");
    const log = createLog("silent");
    await using database = await openDatabase({ url: undefined, folder: postgres, log });
    await sql`update transcript set subject = 'x'`.execute(database.db);
  }
  const finished = join(data, "media/finished");
  const paths = readdirSync(finished, { recursive: true, encoding: "utf8" });
  const file = paths.find((path) => path.includes("/")) ?? assert.fail("no media");
  const media = basename(file);
  rmSync(join(finished, file));

  const found = await fsck();
  assert.equal(found.code, 1, found.errors);
  assert.match(found.out, /^HEAD_SUBJECT transcripts\/[0-9a-f-]{36}: its folded subject/m);
  assert.match(found.out, new RegExp(`^MEDIA_MISSING media/${media}: its bytes are not`, "m"));
  assert.match(found.out, /^\d+ found: \d+ transcripts, \d+ versions, \d+ segments, /m);

  const repaired = await fsck("--repair", "--json", "--no-hash");
  assert.equal(repaired.code, 1, "the media is lost");
  const lines = repaired.out.trimEnd().split("\n");
  const [end, ...findings] = lines.map((line) => JSON.parse(line)).toReversed();
  assert.equal(end.found, findings.length);
  assert.equal(end.repaired, findings.length - 1);
  for (const { code, isRepaired } of findings) assert.equal(isRepaired, code === "HEAD_SUBJECT");

  const left = await fsck();
  assert.equal(left.code, 1);
  assert.match(left.out, new RegExp(`^MEDIA_MISSING media/${media}: .*\n1 found: `));
});

test("hlust fsck exits with 2 for invalid arguments, and if the archive cannot be read", async () => {
  const nowhere = join(data, "nowhere");
  const rows: [args: string[], environment: Record<string, string>, message: RegExp][] = [
    [["--fast"], {}, /--fast/],
    [["transcripts/x"], {}, /unexpected argument "transcripts\/x"/],
    [[], { HLUST_PROT: "1" }, /HLUST_PROT is not a setting/],
    [[], { HLUST_DATA: nowhere }, /there is no archive in .*nowhere/],
  ];
  for (const [args, environment, message] of rows) {
    const ended = await runHlust(["fsck", ...args], { HLUST_DATA: data, ...environment });
    assert.equal(ended.code, 2, `${args.join(" ")}: ${ended.out}${ended.errors}`);
    assert.match(ended.errors, message);
  }
  const help = await fsck("--help");
  assert.deepEqual([help.code, /MEDIA_ALTERED +media whose SHA-256/.test(help.out)], [0, true]);
});
