import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { Distribution } from "../../src/cli/bench/distribution.ts";
import { processTree } from "../../src/cli/bench/process-tree.ts";
import { newId } from "../../src/std/ids.ts";
import { createWatchJobs } from "../../src/jobs/watch-jobs.ts";
import { NodeWatches } from "../../src/watches/node-watches.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import type { Figure } from "../report.ts";

const accounts = 1_000;
const jobsOfOne = 100;
const idleMs = 20_000;
const changes = 200;

/** The limits: CPU milliseconds of a second in which nothing changes, and the time to notice. */
const [idleCpuMsMax, noticeMsMax] = [50, 1_000];

/**
 * Measures the watches of all jobs of a thousand accounts in this process, without a protocol: the
 * CPU time of the first lists, that of this process and of PostgreSQL while nothing changes, and
 * the time from the commit of a change to its message.
 */
export async function measureWatches(): Promise<Figure[]> {
  await using database = await openTestDatabase();
  const { db, pool } = database;
  const ids = Array.from({ length: accounts }, () => newId());
  await pool.query("insert into account (id, display_name) select unnest($1::uuid[]), 'bench'", [
    ids,
  ]);
  await pool.query(
    `insert into transcript_job (id, account_id, state, metadata)
     select gen_random_uuid(), account, 'PROCESSING', '{"subject": "fundur", "keywords": ["a", "b"]}'
     from unnest($1::uuid[]) as account, generate_series(1, $2)`,
    [ids, jobsOfOne],
  );
  await pool.query("vacuum analyze transcript_job, resource_change");
  // Messages that only keep streams open are not measured.
  const node = new NodeWatches(db, { repeatMs: 600_000 });
  const watchJobs = createWatchJobs(db, node);
  const [postgres = ""] = (
    await readFile(join(database.folder, "postgres/18/postmaster.pid"), "utf8")
  ).split("\n");
  const usedMs = async (): Promise<number> => {
    const servers = await processTree(Number(postgres));
    return servers.reduce((sum, each) => sum + each.cpuMs, cpuMs());
  };
  let before = await usedMs();
  const startedAt = performance.now();
  const never = new AbortController();
  const watches = ids.map((id) => watchJobs(id, "", never.signal));
  const waiting = new Map<string, Promise<unknown>>();
  // A message counts as unread until the next one is requested.
  const begin = async (watch: (typeof watches)[number], account: string) => {
    await watch.next();
    waiting.set(account, watch.next());
  };
  await Promise.all(watches.map(async (each, at) => begin(each, ids[at] ?? "")));
  const [firstMs, firstCpuMs] = [performance.now() - startedAt, (await usedMs()) - before];
  before = await usedMs();
  await sleep(idleMs);
  const idle = (1000 * ((await usedMs()) - before)) / idleMs;
  const notice = new Distribution();
  for (let at = 0; at < changes; at++) {
    const account = ids[(at * 7) % accounts] ?? "";
    await pool.query(
      `update transcript_job set progress_percent = progress_percent + 1
       where id = (select id from transcript_job where account_id = $1 limit 1)`,
      [account],
    );
    const committedAt = performance.now();
    void waiting.get(account)?.then(() => notice.add(performance.now() - committedAt));
    await sleep(20);
  }
  await sleep(2_000);
  node.stop(new Error("the measurement has ended"));
  await Promise.allSettled(waiting.values());
  const { count, p50, p99 } = notice.summary() ?? { count: 0, p50: NaN, p99: NaN };
  const first = `first lists of ${accounts} x ${jobsOfOne} jobs in ${firstMs.toFixed(0)} ms, ${firstCpuMs.toFixed(0)} ms of CPU`;
  return [
    {
      name: "watches, CPU when idle",
      ratio: idle,
      ratioMax: idleCpuMsMax,
      unit: "ms/s",
      note: first,
    },
    {
      name: "watches, change to message, p99",
      ratio: p99,
      ratioMax: noticeMsMax,
      unit: "ms",
      note: `median ${p50.toFixed(0)} ms of ${count} changes`,
    },
  ];
}
