import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WatchTranscriptJobsResponse } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { TranscriptJob_State as State } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openCutDatabase } from "../../test/fixtures/open-cut-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { until } from "../../test/fixtures/until.ts";
import { forever, openWatchedJobs, type WatchedJobs } from "../../test/fixtures/watched-jobs.ts";
import { databaseTrouble } from "../database/database-trouble.ts";
import { foldText } from "../std/fold-text.ts";
import { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { NodeWatches, watchesMax } from "../watches/node-watches.ts";
import { createWatchJobs } from "./watch-jobs.ts";

let jobs: WatchedJobs;
/** The number of statements executed by the time nothing is watched any more. */
let statementsAtRest = 0;

/** The nodes of the tests, which end their watches also if a test fails. */
const nodes: NodeWatches[] = [];

function newNode(options?: Options, db = jobs.database.db): NodeWatches {
  const node = new NodeWatches(db, options);
  nodes.push(node);
  return node;
}

before(async () => {
  jobs = await openWatchedJobs();
});

after(async () => {
  for (const node of nodes) node.stop(new Error("the test has ended"));
  await jobs[Symbol.asyncDispose]();
  assert.equal(jobs.statements(), statementsAtRest, "nothing is polled when nothing is watched");
});

type Watch = AsyncGenerator<WatchTranscriptJobsResponse, void, undefined>;
type Options = ConstructorParameters<typeof NodeWatches>[1];

/** Opens a watch of the account on a node of its own. */
function watchOf(accountId: string, filter = "", options: Options = {}): Watch {
  const { db } = jobs.database;
  return createWatchJobs(db, newNode(options))(accountId, filter, forever());
}

async function next(watch: Watch): Promise<WatchTranscriptJobsResponse> {
  const { value } = await watch.next();
  assert.ok(value);
  return value;
}

const stateNames = new Map<State, string>(
  Object.entries(State).flatMap(([name, state]) =>
    typeof state === "number" ? [[state, name]] : [],
  ),
);

/** Returns what a message shows: the kind of the message, and its jobs with their progress. */
function shown({ update, more, jobs: some }: WatchTranscriptJobsResponse): string {
  const kind = `${update ? "update" : "all"}${more ? ", more" : ""}`;
  const each = some.map(({ name, state, progressPercent }) =>
    [name.slice(-4), stateNames.get(state), progressPercent].join(" "),
  );
  return [kind, ...each].join("; ");
}

const tail = (id: string): string => id.slice(-4);

test("a watch of updates only begins with an empty message, and sends what changes from then on", async () => {
  const account = await jobs.addAccount();
  const [first] = [await jobs.addJob(account), await jobs.addJob(account)];
  const { db } = jobs.database;
  const watchJobs = createWatchJobs(db, newNode());
  const watch = watchJobs(account, "", forever(), { updatesOnly: true });
  assert.equal(shown(await next(watch)), "update");
  await jobs.change([first], "progress_percent = 7");
  assert.equal(shown(await next(watch)), `update; ${tail(first)} PROCESSING 7`);
  await watch.return();
});

test("a watch sends all jobs of the account, and then those that are new or have changed", async () => {
  const [account, other] = [await jobs.addAccount(), await jobs.addAccount()];
  const first = await jobs.addJob(account);
  await jobs.addJob(other);
  const watch = watchOf(account);
  assert.equal(shown(await next(watch)), `all; ${tail(first)} PROCESSING 0`);
  const second = await jobs.addJob(account);
  assert.equal(shown(await next(watch)), `update; ${tail(second)} PROCESSING 0`);
  await jobs.change([first], "progress_percent = 40");
  await jobs.change([second], "lease = 7, due_at = now()");
  assert.equal(shown(await next(watch)), `update; ${tail(first)} PROCESSING 40`);
  await jobs.change([second], `state = 'CANCELLED', error = '{"code": 1}'`);
  assert.equal(shown(await next(watch)), `update; ${tail(second)} CANCELLED 0`);
  await watch.return();
  const empty = watchOf(await jobs.addAccount());
  assert.equal(shown(await next(empty)), "all");
  await empty.return();
});

test("many jobs arrive in messages of at most 100, newest first, and the last one has no `more`", async () => {
  const account = await jobs.addAccount();
  const count = 250;
  const ids: string[] = [];
  for (let at = 0; at < count; at++) ids.push(await jobs.addJob(account));
  const watch = watchOf(account);
  const messages = [await next(watch), await next(watch), await next(watch)];
  assert.deepEqual(
    messages.map(({ update, more, jobs: some }) => [update, more, some.length]),
    [
      [false, true, 100],
      [false, true, 100],
      [false, false, 50],
    ],
  );
  const names = messages.flatMap(({ jobs: some }) => some.map(({ name }) => name));
  assert.deepEqual(
    names,
    ids.toReversed().map((id) => `transcriptjob/${id}`),
  );
  await watch.return();
});

test("a message ends after 256 kB of metadata", async () => {
  const account = await jobs.addAccount();
  const ids = [];
  for (let at = 0; at < 6; at++) ids.push(await jobs.addJob(account));
  await jobs.change(ids, "metadata = jsonb_build_object('description', repeat('x', 100000))");
  const watch = watchOf(account);
  const lengths = [(await next(watch)).jobs.length, (await next(watch)).jobs.length];
  assert.deepEqual(lengths, [3, 3]);
  await jobs.change(ids, "progress_percent = 1");
  const updates = [await next(watch), await next(watch)];
  assert.deepEqual(
    updates.map(({ update, jobs: some }) => [update, some.length]),
    [
      [true, 3],
      [true, 3],
    ],
  );
  await watch.return();
});

test("a filter selects jobs by their subject and keywords, first and in updates", async () => {
  const account = await jobs.addAccount();
  const [morning, evening, none] = [
    await jobs.addJob(account),
    await jobs.addJob(account),
    await jobs.addJob(account),
  ];
  const metadata = (subject: string, ...keywords: string[]) =>
    `metadata = '${JSON.stringify({ subject, keywords })}', subject = '${foldText(subject)}',
      keywords = '{${keywords.join()}}'`;
  await jobs.change([morning], metadata("MORGUNFUNDUR ÞÁ", "fundur", "a"));
  await jobs.change([evening], metadata("kvöldfundur", "b"));
  for (const [filter, found] of [
    ['metadata.subject CONTAINS "morgun"', morning],
    ['metadata.subject CONTAINS "KVÖLD"', evening],
    ['metadata.keywords CONTAINS ["a"]', morning],
    ['metadata.keywords CONTAINS ["x", "b"]', evening],
    ['metadata.subject CONTAINS "fundur" AND metadata.keywords CONTAINS ["b"]', evening],
  ] as const) {
    const watch = watchOf(account, filter);
    assert.deepEqual(
      (await next(watch)).jobs.map(({ name }) => name),
      [`transcriptjob/${found}`],
      filter,
    );
    await jobs.change([morning, evening, none], "progress_percent = progress_percent + 1");
    assert.deepEqual(
      (await next(watch)).jobs.map(({ name }) => name),
      [`transcriptjob/${found}`],
      filter,
    );
    await watch.return();
  }
  const nothing = watchOf(account, 'metadata.subject CONTAINS "hádegi"');
  assert.equal(shown(await next(nothing)), "all");
  await nothing.return();
});

test("a change is sent once its transaction commits, however long it takes", async () => {
  const account = await jobs.addAccount();
  const [slow, quick] = [await jobs.addJob(account), await jobs.addJob(account)];
  const client = await jobs.database.pool.connect();
  await client.query("begin");
  await client.query("update transcript_job set progress_percent = 9 where id = $1", [slow]);
  const watch = watchOf(account);
  await next(watch);
  // Later transactions are read while the earlier one is still in progress.
  for (const percent of [1, 2]) {
    await jobs.change([quick], `progress_percent = ${percent}`);
    assert.equal(shown(await next(watch)), `update; ${tail(quick)} PROCESSING ${percent}`);
  }
  await client.query("commit");
  client.release();
  assert.equal(shown(await next(watch)), `update; ${tail(slow)} PROCESSING 9`);
  await watch.return();
});

test("no change is lost between the first messages and the updates", async () => {
  const account = await jobs.addAccount();
  const ids: string[] = [];
  for (let at = 0; at < 40; at++) ids.push(await jobs.addJob(account));
  const { db } = jobs.database;
  const node = newNode();
  const watchJobs = createWatchJobs(db, node);
  const seen = new Map<string, Map<string, number>>();
  let changes = 0;
  const stop = new AbortController();
  const watches = Array.from({ length: 20 }, async (_, number) => {
    await until(() => Promise.resolve(changes > number * 10));
    const percents = new Map<string, number>();
    seen.set(`${number}`, percents);
    try {
      for await (const { jobs: some } of watchJobs(account, "", stop.signal)) {
        for (const { name, progressPercent = 0 } of some) percents.set(name, progressPercent);
      }
    } catch (error) {
      assert.equal(error, stop.signal.reason);
    }
  });
  for (; changes < 400; changes++) {
    await jobs.change([ids[changes % ids.length] ?? ""], "progress_percent = progress_percent + 1");
  }
  await until(() =>
    Promise.resolve(
      seen.size === 20 && [...seen.values()].every((each) => sum(each.values()) === 400),
    ),
  );
  stop.abort(new Error("it is over"));
  await Promise.all(watches);
});

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0);
}

test("a stream that is not read gets the newest state of each job once", async () => {
  const account = await jobs.addAccount();
  const ids = [await jobs.addJob(account), await jobs.addJob(account)];
  const { db } = jobs.database;
  const node = newNode();
  const watchJobs = createWatchJobs(db, node);
  const [slow, quick] = [watchJobs(account, "", forever()), watchJobs(account, "", forever())];
  await Promise.all([next(slow), next(quick)]);
  for (let percent = 1; percent <= 3; percent++) {
    await jobs.change(ids, `progress_percent = ${percent}`);
    assert.deepEqual(
      (await next(quick)).jobs.map(({ progressPercent }) => progressPercent),
      [percent, percent],
    );
  }
  const { jobs: newest } = await next(slow);
  assert.deepEqual(
    newest.map(({ progressPercent }) => progressPercent),
    [3, 3],
  );
  await jobs.change([ids[0] ?? ""], "progress_percent = 50");
  assert.equal(shown(await next(slow)), `update; ${tail(ids[0] ?? "")} PROCESSING 50`);
  await Promise.all([slow.return(), quick.return()]);
  assert.equal(node.held.total, 0);
});

test("a stream that is not read ends when the ids of its changes have no room", async () => {
  const account = await jobs.addAccount();
  const ids: string[] = [];
  for (let at = 0; at < 90; at++) ids.push(await jobs.addJob(account));
  const limits = { nodeBytesMax: 1e6, reason: "WATCHES_FULL", what: "watched jobs" };
  const held = new HeldBytes({ ...limits, accountBytesMax: 200_000 });
  const { db } = jobs.database;
  const watchJobs = createWatchJobs(db, newNode({ held }));
  const watch = watchJobs(account, "", forever());
  await next(watch);
  // The message that has not been read holds 180 kB. 90 ids fit into the rest, 300 do not.
  await jobs.change(ids, "progress_percent = 1");
  await until(() => Promise.resolve(held.total > 188_000));
  for (let at = 0; at < 300; at++) await jobs.addJob(account);
  const others = await jobs.addAccount();
  const other = watchJobs(others, "", forever());
  await next(other);
  await jobs.addJob(others);
  await next(other);
  await other.return();
  const error = await refusal(watch.next().then(() => watch.next()));
  assert.deepEqual([error.code, error.reason], ["resource_exhausted", "WATCHES_FULL"]);
  assert.equal(held.total, 0);
});

test("if nothing changes, a message without jobs keeps the stream open", async () => {
  const watch = watchOf(await jobs.addAccount(), "", { repeatMs: 100 });
  const messages = [await next(watch), await next(watch), await next(watch)];
  assert.deepEqual(messages.map(shown), ["all", "update", "update"]);
  await watch.return();
});

test("a thousand watches of an account share one poll and one read of each change", async (t) => {
  const account = await jobs.addAccount();
  const id = await jobs.addJob(account);
  const watchJobs = createWatchJobs(jobs.counted, newNode({}, jobs.counted));
  const watches = Array.from({ length: watchesMax.account }, () =>
    watchJobs(account, "", forever()),
  );
  await Promise.all(watches.map(next));
  const full = await refusal(watchJobs(account, "", forever()).next());
  assert.deepEqual([full.code, full.reason], ["resource_exhausted", "WATCHES_FULL"]);
  const before = jobs.statements();
  const startedAt = performance.now();
  const messages = new Set<WatchTranscriptJobsResponse>();
  for (let percent = 1; percent <= 3; percent++) {
    await jobs.change([id], `progress_percent = ${percent}`);
    for (const message of await Promise.all(watches.map(next))) messages.add(message);
  }
  const polls = Math.ceil((performance.now() - startedAt) / 500) + 1;
  const statements = jobs.statements() - before;
  assert.ok(statements <= polls + 6 + 1, `${statements} statements, ${polls} polls`);
  assert.equal(messages.size, 3, "all watches send the same message");
  t.diagnostic(`${statements} statements for ${3 * watches.length} messages`);
  await Promise.all(watches.map((each) => each.return()));
  // The loop of polls ends with its last wait.
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 600);
  await promise;
  statementsAtRest = jobs.statements();
});

test("all watches end when the node stops, and later ones are refused", async () => {
  const account = await jobs.addAccount();
  const { db } = jobs.database;
  const node = newNode();
  const watchJobs = createWatchJobs(db, node);
  const watches = [watchJobs(account, "", forever()), watchJobs(account, "", forever())];
  await Promise.all(watches.map(next));
  const ends = watches.map((each) => refusal(each.next()));
  node.stop(new ServiceError("unavailable", "the service is stopping"));
  for (const { code } of await Promise.all(ends)) assert.equal(code, "unavailable");
  const late = await refusal(watchJobs(account, "", forever()).next());
  assert.equal(late.code, "unavailable");
});

test("while the database is unavailable, watches stay open, and new ones fail", async () => {
  const account = await jobs.addAccount();
  const id = await jobs.addJob(account);
  await using line = await openCutDatabase(jobs.database);
  const watchJobs = createWatchJobs(line.db, newNode({}, line.db));
  const watch = watchJobs(account, "", forever());
  await next(watch);
  const changed = next(watch);
  await line.cut();
  const fresh = createWatchJobs(line.db, newNode({}, line.db))(account, "", forever());
  const error: unknown = await fresh.next().catch((reason: unknown) => reason);
  assert.equal(databaseTrouble(error)?.code, "unavailable", String(error));
  await jobs.change([id], "progress_percent = 50");
  await line.repair();
  assert.equal(shown(await changed), `update; ${tail(id)} PROCESSING 50`);
  await watch.return();
});
