import { createLog } from "../src/std/log.ts";
import { noLimits } from "../src/auth/limits.ts";
import { openMeter, type MeteredCaller } from "../src/auth/meter.ts";
import { addAccount, addApiKey } from "../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../test/fixtures/open-test-database.ts";

/**
 * `npm run bench:limits` measures the cost of limits as the CPU time of this process, on which
 * other work of the machine has little effect. PostgreSQL's CPU time is not included.
 */
const usPerCallMax = 2;
const callers = 1_000;
const calls = 1_000_000;

await using database = await openTestDatabase();
const { db } = database;
const limits = { requestsPerMinute: 1e9, audioSecondsPerDay: 1e8, concurrentStreams: 1e6 };
const accountLimits = { ...noLimits, ...limits };
const log = createLog("silent");
await using meter = openMeter({ db, accountLimits, log, shareEveryMs: 1e9, idleMsMax: 1e9 });
const known: MeteredCaller[] = [];
for (let i = 0; i < callers; i++) {
  const accountId = await addAccount(db);
  const { id: keyId } = await addApiKey(db, accountId, ["speech"]);
  known.push({ accountId, keyId });
}

/** Returns the CPU time of this process while `run` runs, in microseconds. */
async function cpuUs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const line = (what: string, value: string): boolean =>
  process.stdout.write(`${what.padEnd(56)}${value}\n`);
const callAll = async (): Promise<void> => {
  for (const caller of known) await meter.countRequest(caller);
};

const learning = await cpuUs(callAll);
line("the first call of a caller (with a statement)", `${(learning / callers).toFixed(0)} us`);
await cpuUs(callAll);
const counting = await cpuUs(async () => {
  for (let i = 0; i < calls / callers; i++) await callAll();
});
line("a later call", `${(counting / calls).toFixed(2)} us (limit ${usPerCallMax})`);
const [first] = known;
if (!first) throw new Error("there is no caller");
using stream = await meter.openStream(first);
const metering = await cpuUs(async () => {
  for (let i = 0; i < calls; i++) stream.meterAudio(0.01);
});
line("a chunk of audio of a live stream", `${(metering / calls).toFixed(2)} us`);
for (let round = 0; round < 3; round++) {
  await callAll();
  const startedAt = performance.now();
  const sharing = await cpuUs(async () => meter.share());
  const ms = (performance.now() - startedAt).toFixed(0);
  line(
    `sharing the counts of ${2 * callers} accounts and keys`,
    `${(sharing / 1000).toFixed(1)} ms of CPU, ${ms} ms`,
  );
}
if (!(counting / calls <= usPerCallMax)) process.exitCode = 1;
