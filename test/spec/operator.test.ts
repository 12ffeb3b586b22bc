// The service Operator (extension): two real nodes on one database, the queues and the accounts of
// the whole service, and who may become an operator.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { createSignInToken } from "../../src/auth/sign-in-token.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { addMember, consoleHeaders } from "../fixtures/signed-in.ts";
import { until } from "../fixtures/until.ts";
import { openCluster, type Cluster, type ClusterNode } from "../fault/cluster.ts";
import { callRest, type Answer } from "./service.ts";
import { openStream, streamingConfig } from "./stream.ts";

let cluster: Cluster;
let api: ClusterNode;
let worker: ClusterNode;
let database: Database;
let ownAccount = "";
const parts = new AsyncDisposableStack();

before(async () => {
  cluster = parts.use(await openCluster({ HLUST_ACCOUNT_JOBS_MAX: "500" }));
  [api, worker] = [cluster.addNode("api"), cluster.addNode("worker")];
  await api.start();
  await worker.start();
  const { url } = cluster.postgres;
  database = parts.use(await openDatabase({ url, folder: "", log: createLog("silent") }));
  ownAccount = (await call("GET", "/v1/account")).json.name;
});
after(() => parts.disposeAsync());

async function call(method: string, path: string, body?: unknown, key = api.service.key) {
  return await callRest(api.service.address, key, { method, path, body });
}

async function good(...args: Parameters<typeof call>): Promise<Answer["json"]> {
  const { status, json } = await call(...args);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

const nodes = async () => (await good("GET", "/v1/operator/nodes")).nodes;

test("both nodes are listed with their role, state, models and open streams", async () => {
  await until(async () => (await nodes()).length === 2, 30_000);
  const [first, second] = await nodes();
  assert.deepEqual([first.role, second.role], ["api", "worker"]);
  assert.deepEqual([first.state, first.address], ["READY", api.service.address]);
  assert.match(first.version, /^\d+\.\d+\.\d+/);
  assert.ok(Date.parse(first.startTime) <= Date.parse(first.heartbeatTime));
  const [model] = first.models;
  assert.deepEqual([model.name, model.state, model.readyProcesses], ["scripted", "SERVING", 1]);
  assert.equal(first.openStreams, 0);

  const stream = await openStream(api.service.address, { token: api.service.key });
  stream.send(streamingConfig());
  stream.sendAudio(Buffer.alloc(32_000, 1), 32_000);
  const open = async () => (await nodes())[0].openStreams;
  await until(async () => (await open()) === 1, 30_000);
  stream.terminate();
  await until(async () => (await open()) === 0, 30_000);
});

test("a node that stops is left out at once, and a node that is killed after its last report", async () => {
  const [, { name }] = await nodes();
  await worker.end();
  assert.deepEqual((await nodes()).length, 1);
  await worker.start();
  await until(async () => (await nodes()).length === 2, 30_000);
  const [, again] = await nodes();
  assert.notEqual(again.name, name);
  worker.service.child.kill("SIGKILL");
  await until(async () => (await nodes()).length === 1, 60_000);
});

test("the queues show what waits and for how long, and why jobs failed, by account", async () => {
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  const job = { metadata, useUri: true, uri: "http://127.0.0.1:9/a.wav" };
  const names: string[] = [];
  for (let at = 0; at < 3; at += 1) {
    names.push((await good("POST", "/v1alpha1/transcriptjob:submit", job)).name);
  }
  await database.pool.query(
    `update transcript_job set started_at = now() - interval '90 seconds', due_at = least(due_at, now())`,
  );
  const queueOf = ({ queues }: Answer["json"]) => queues[0];
  const read = await good("GET", "/v1/operator/queues");
  const { oldestWaitingSeconds, ...counts } = queueOf(read);
  const waiting = { waiting: 3, running: 0, waitingForContent: 0 };
  assert.deepEqual(counts, { name: "transcriptJobs", ...waiting });
  assert.ok(oldestWaitingSeconds >= 90 && oldestWaitingSeconds < 600, `${oldestWaitingSeconds}`);
  const [account] = read.accounts;
  assert.deepEqual([account.account, account.waiting, account.failed], [ownAccount, 3, 0]);

  // One fails now, and one has failed a day and an hour ago.
  const failed = `update transcript_job set state = 'ERROR', error = '{"details":[{"reason":"MEDIA_NOT_FOUND"}]}'`;
  const [first = "", second = ""] = names.map((name) => name.slice("transcriptjob/".length));
  await database.pool.query(`${failed} where id = $1`, [first]);
  await database.pool.query(
    `${failed}, id = (lpad(to_hex((extract(epoch from now() - interval '25 hours') * 1000)::bigint), 12, '0')
      || substr(replace(id::text, '-', ''), 13))::uuid where id = $1`,
    [second],
  );
  const then = await good("GET", "/v1/operator/queues");
  assert.deepEqual(then.failures, [
    { queue: "transcriptJobs", reason: "MEDIA_NOT_FOUND", count: 1 },
  ]);
  assert.deepEqual([then.accounts[0].waiting, then.accounts[0].failed], [1, 1]);
  assert.equal(queueOf(then).waiting, 1);
});

test("accounts are listed in pages, with their limits and use", async () => {
  for (let at = 0; at < 2; at += 1) await addAccount(database.db);
  const page = async (query: string) => await good("GET", `/v1/operator/accounts?${query}`);
  const first = await page("pageSize=2");
  assert.equal(first.accounts.length, 2);
  const [own] = first.accounts;
  assert.deepEqual(
    [own.name, own.disabled, own.ownLimits, own.limits.queuedJobs, own.keys],
    [ownAccount, false, {}, 500, 1],
  );
  assert.equal(own.usage.queuedJobs, 1);
  await until(async () => {
    const { accounts } = await page("pageSize=1");
    return accounts[0].usage.requestsPerMinute > 0;
  });
  const rest = await page(`pageSize=2&pageToken=${first.nextPageToken}`);
  assert.deepEqual([rest.accounts.length, rest.nextPageToken], [1, ""]);
  const names = [...first.accounts, ...rest.accounts].map(({ name }) => name);
  assert.equal(new Set(names).size, 3);
  assert.equal((await call("GET", "/v1/operator/accounts?pageSize=-1")).status, 400);
});

test("limits of an account are replaced, apply, and are in both audit logs", async () => {
  const id = await addAccount(database.db);
  const { token } = await addApiKey(database.db, id, ["account", "speech"]);
  const path = `/v1/operator/accounts/${id}`;
  const set = { ownLimits: { requestsPerMinute: 3, storedBytes: "5000000000" } };
  const changed = await good("PATCH", path, set);
  assert.deepEqual(changed.ownLimits, set.ownLimits);
  assert.deepEqual([changed.limits.requestsPerMinute, changed.limits.queuedJobs], [3, 500]);
  await until(async () => (await call("GET", "/v1/account", undefined, token)).status === 429);
  const open = await good("PATCH", path, { ownLimits: {} });
  assert.deepEqual([open.ownLimits, open.limits.queuedJobs], [{}, 500]);
  const actsOf = async (accountId: string) => {
    const { rows } = await database.pool.query(
      "select actor, action, resource, address from audit_event where account_id = $1 and action = 'limits.update'",
      [accountId],
    );
    return rows;
  };
  const act = { action: "limits.update", resource: `accounts/${id}` };
  const theirs = { ...act, actor: "operator", address: "" };
  assert.deepEqual(await actsOf(id), [theirs, theirs]);
  const { actor } = await good("GET", "/v1/caller");
  const mine = { ...act, actor, address: "127.0.0.1" };
  assert.deepEqual(await actsOf(ownAccount.slice("accounts/".length)), [mine, mine]);

  const wrong = await call("PATCH", path, { ownLimits: { queuedJobs: -1, storedBytes: "-2" } });
  assert.equal(wrong.status, 400);
  const fields = wrong.json.details.flatMap(
    ({ fieldViolations = [] }: { fieldViolations?: { field: string }[] }) =>
      fieldViolations.map(({ field }) => field),
  );
  assert.deepEqual(fields, ["ownLimits.queuedJobs", "ownLimits.storedBytes"]);
  assert.equal((await call("PATCH", path, {})).status, 400);
});

test("a disabled account is refused until it is enabled, and no operator disables its own", async () => {
  const id = await addAccount(database.db);
  const { token } = await addApiKey(database.db, id, ["account"]);
  const path = `/v1/operator/accounts/${id}`;
  const status = async () => (await call("GET", "/v1/account", undefined, token)).status;
  assert.equal(await status(), 200);
  assert.equal((await good("PATCH", path, { disabled: true })).disabled, true);
  await until(async () => (await status()) === 401);
  assert.equal((await good("PATCH", path, { disabled: false })).disabled, false);
  await until(async () => (await status()) === 200);
  const own = await call("PATCH", `/v1/operator/${ownAccount}`, { disabled: true });
  assert.equal(own.status, 400);
  assert.equal(own.json.details[0].reason, "OWN_ACCOUNT");
  const none = await call("PATCH", `/v1/operator/accounts/${crypto.randomUUID()}`, {
    disabled: true,
  });
  assert.equal(none.status, 404);
});

test("owners cannot make themselves operators; the command line and operators can", async () => {
  const { db } = database;
  const id = await addAccount(db);
  const { token } = await addApiKey(db, id, ["account", "transcripts.read"]);
  const made = await call("POST", "/v1/apiKeys", { scopes: ["operator"] }, token);
  assert.equal(made.json.details[0].reason, "SCOPE_MISSING");
  assert.equal((await call("GET", "/v1/operator/nodes", undefined, token)).status, 403);

  const memberId = await addMember(db, id, "OWNER");
  const hlust = async (...args: string[]) =>
    await runHlust(args, { DATABASE_URL: cluster.postgres.url, HLUST_DATA: api.dataFolder });
  const scopes = async () => {
    const signIn = await fetch(`${api.service.address}/console/session`, {
      method: "POST",
      headers: { ...consoleHeaders(undefined), "content-type": "application/json" },
      body: JSON.stringify({
        signInToken: await createSignInToken(db, { accountId: id, memberId }),
      }),
    });
    const session: { scopes: string[] } = JSON.parse(await signIn.text());
    return session.scopes;
  };
  assert.ok(!(await scopes()).includes("operator"));
  const yes = await hlust("accounts", "set-operator", id, `members/${memberId}`, "yes");
  assert.match(yes.out, /is an operator of the service/);
  assert.ok((await scopes()).includes("operator"));
  // Another owner of the account gets no link with which to act as the operator.
  const full = await addApiKey(db, id, [
    "account",
    "transcripts.read",
    "transcripts.write",
    "speech",
  ]);
  const link = await call("POST", `/v1/members/${memberId}:createSignInLink`, {}, full.token);
  assert.equal(link.json.details[0].metadata.scope, "operator");
  await hlust("accounts", "set-operator", id, `members/${memberId}`, "no");
  assert.ok(!(await scopes()).includes("operator"));

  const granted = await good("POST", "/v1/apiKeys", { scopes: ["operator"] });
  assert.deepEqual(granted.apiKey.scopes, ["operator"]);
  assert.equal((await call("GET", "/v1/operator/nodes", undefined, granted.secret)).status, 200);
});
