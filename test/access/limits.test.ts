// The limits of accounts and keys at the doors of the whole service: 429 with the time to retry,
// and no effect on other accounts.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { setAccountLimits, type LimitChanges } from "../../src/accounts/set-account-limits.ts";
import { scopes } from "../../src/auth/caller.ts";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { callRest, openTestService, type Answer, type TestService } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";
import { until } from "../fixtures/until.ts";

const open = new AsyncDisposableStack();
let service: TestService;
/** The service's database, which the test changes like the operator's command line. */
let database: Database;
before(async () => {
  service = open.use(await openTestService({ HLUST_ENGINE: "scripted" }));
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  database = open.use(await openDatabase({ url: undefined, folder, log, durable: false }));
});
after(() => open[Symbol.asyncDispose]());

const operator = { actor: "operator", origin: { address: "", requestId: "" } };

interface TestAccount {
  readonly id: string;
  readonly token: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

async function newAccount(
  limits: LimitChanges = { requestsPerMinute: null },
): Promise<TestAccount> {
  const id = await addAccount(database.db);
  await setAccountLimits(database.db, operator, id, limits);
  const { token } = await addApiKey(database.db, id, [...scopes]);
  const call: TestAccount["call"] = async (method, path, body) =>
    callRest(service.address, token, { method, path, body });
  return { id, token, call };
}

/** Returns the details of a response. */
function detailsOf({ json }: Pick<Answer, "json">): Answer["json"] {
  const named = json.details.map((detail: { "@type": string }) => [
    detail["@type"].split(".").at(-1),
    detail,
  ]);
  return Object.fromEntries(named);
}

test("calls above the limit get 429 with RetryInfo and Retry-After at every door; calls of another account do not", async () => {
  const [account, other] = [await newAccount({ requestsPerMinute: 2 }), await newAccount()];
  await account.call("GET", "/v1/account");
  await account.call("GET", "/v1/account");
  const refused = await account.call("GET", "/v1/account");
  assert.equal(refused.status, 429);
  assert.equal(refused.json.error.status, "RESOURCE_EXHAUSTED");
  const { ErrorInfo, RetryInfo } = detailsOf(refused);
  assert.equal(ErrorInfo.reason, "TOO_MANY_REQUESTS");
  assert.deepEqual(ErrorInfo.metadata, { limit: "requestsPerMinute", value: "2", of: "account" });
  const seconds = Number(RetryInfo.retryDelay.replace(/s$/, ""));
  assert.ok(seconds > 0 && seconds <= 120);
  assert.equal(Number(refused.headers.get("retry-after")), Math.ceil(seconds));

  const client = createClient(Accounts, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${account.token}` };
  const error = await connectFailure(client.getAccount({}, { headers }));
  assert.equal(error.code, Code.ResourceExhausted);
  assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "TOO_MANY_REQUESTS");
  assert.ok(error.findDetails(RetryInfoSchema)[0]?.retryDelay);
  await assert.rejects(openStream(service.address, account), /HTTP 429/);

  assert.equal((await other.call("GET", "/v1/account")).status, 200);
  assert.equal(
    (await callRest(service.address, undefined, { method: "GET", path: "/healthz" })).status,
    200,
  );
});

test("a change by the operator takes effect within two seconds and is in the audit log", async () => {
  const account = await newAccount({ requestsPerMinute: 1 });
  await account.call("GET", "/v1/account");
  assert.equal((await account.call("GET", "/v1/account")).status, 429);
  const changedAt = performance.now();
  await setAccountLimits(database.db, operator, account.id, { requestsPerMinute: 0 });
  await until(async () => (await account.call("GET", "/v1/account")).status === 200);
  assert.ok(performance.now() - changedAt < 10_000, "2 s, on a machine five times as slow");
  const events = await database.db
    .selectFrom("audit_event")
    .where("account_id", "=", account.id)
    .orderBy("at")
    .orderBy("id")
    .select(["actor", "action", "resource", "details"])
    .execute();
  assert.deepEqual(events.at(-1), {
    actor: "operator",
    action: "limits.update",
    resource: `accounts/${account.id}`,
    details: { requestsPerMinute: "0" },
  });
});

test("live streams above the limit are refused before the upgrade until another stream ends", async () => {
  const account = await newAccount({ concurrentStreams: 2 });
  const streams = [
    await openStream(service.address, account),
    await openStream(service.address, account),
  ];
  await until(async () => {
    const { json } = await account.call("GET", "/v1/account");
    return json.usage.concurrentStreams === 2;
  });
  await assert.rejects(openStream(service.address, account), /HTTP 429/);
  // A client that cannot read the response to its handshake sends this request to get the reason.
  const path = `/v2beta1/speech:streamingrecognize?token=${account.token}`;
  const refused = await callRest(service.address, undefined, { method: "GET", path });
  assert.equal(detailsOf(refused).ErrorInfo.reason, "TOO_MANY_STREAMS");
  assert.equal(refused.headers.get("retry-after"), "5");
  (await openStream(service.address, await newAccount())).terminate();
  streams[0]?.terminate();
  await until(async () => {
    (await openStream(service.address, account)).terminate();
    return true;
  });
  streams[1]?.terminate();
});

test("a live stream that exceeds the day's audio gets its final results and then the error; after that nothing is recognized", async () => {
  const account = await newAccount({ audioSecondsPerDay: 3 });
  const stream = await openStream(service.address, account);
  stream.send(streamingConfig());
  // This is not silence: the scripted engine recognizes a word every half second.
  const second = Buffer.alloc(32_000, 1);
  for (let i = 0; i < 6; i++) stream.sendAudio(second, second.length);
  assert.equal(await stream.closed, 1013);
  const words = finalsOf(stream.messages).flatMap(({ transcript }) => transcript.trim().split(" "));
  assert.equal(words.length, 6, "two words in each of the three seconds that are allowed");
  const last = stream.messages.at(-1)?.error;
  assert.equal(last?.code, Code.ResourceExhausted);
  assert.equal(detailsOf({ json: last }).ErrorInfo.reason, "AUDIO_LIMIT");

  const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };
  const short = { config, audio: { content: second.toString("base64") } };
  const job = {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: true,
    uri: "https://media.example/a.wav",
  };
  for (const answer of [
    await account.call("POST", "/v2beta1/speech:recognize", short),
    await account.call("POST", "/v1alpha1/transcriptjob:submit", job),
  ]) {
    assert.equal(answer.status, 429);
    assert.equal(detailsOf(answer).ErrorInfo.reason, "AUDIO_LIMIT");
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
  }
  await assert.rejects(openStream(service.address, account), /HTTP 429/);
  const { json } = await account.call("GET", "/v1/account");
  assert.equal(json.usage.audioSecondsPerDay, 3);
  const other = await newAccount({ audioSecondsPerDay: 3 });
  assert.equal((await other.call("POST", "/v2beta1/speech:recognize", short)).status, 200);
  await until(async () => {
    const [day] = (await other.call("GET", "/v1/usageDays")).json.usageDays;
    return day?.shortSeconds === 1;
  });
});

test("an account reads its limits and usage, and lists its days in pages, newest first", async () => {
  const account = await newAccount({ storedBytes: 2 ** 40, queuedJobs: 7 });
  const { json } = await account.call("POST", "/v1alpha1/initupload", {});
  await fetch(json.storageSignedUrl, { method: "PUT", body: "RIFF of eleven".slice(0, 11) });
  const { limits, usage } = (await account.call("GET", "/v1/account")).json;
  assert.deepEqual(limits, {
    requestsPerMinute: 60_000,
    concurrentStreams: 0,
    queuedJobs: 7,
    audioSecondsPerDay: 0,
    storedBytes: `${2 ** 40}`,
  });
  assert.equal(usage.storedBytes, "11");
  assert.ok(usage.requestsPerMinute >= 1);
  for (const [date, ms] of [
    ["2025-12-30", 1_999],
    ["2025-12-31", 61_000],
    ["2026-01-02", 5_000],
  ] as const) {
    const day = { subject_id: account.id, account_id: account.id, day: date, requests: 3 };
    await database.db
      .insertInto("usage_day")
      .values({ ...day, live_ms: ms, short_ms: 0, job_ms: 7_000_000 })
      .execute();
  }
  await until(async () => (await account.call("GET", "/v1/usageDays")).json.usageDays.length === 4);
  const seen: Answer["json"][] = [];
  for (let pageToken = ""; ;) {
    const path = `/v1/usageDays?pageSize=2&pageToken=${pageToken}`;
    const page = (await account.call("GET", path)).json;
    seen.push(...page.usageDays);
    pageToken = page.nextPageToken;
    if (pageToken === "") break;
  }
  assert.deepEqual(
    seen.slice(1).map(({ date, liveSeconds }) => [date, liveSeconds]),
    [
      ["2026-01-02", 5],
      ["2025-12-31", 61],
      ["2025-12-30", 1],
    ],
  );
  assert.deepEqual(seen[3], {
    date: "2025-12-30",
    requests: "3",
    liveSeconds: 1,
    shortSeconds: 0,
    jobSeconds: 7_000,
    consoleRequests: "0",
  });
  const other = await newAccount();
  const path = `/v1/usageDays?pageSize=2`;
  const { nextPageToken } = (await account.call("GET", path)).json;
  const foreign = await other.call("GET", `${path}&pageToken=${nextPageToken}`);
  assert.equal(foreign.status, 400);
});

test("a key is created with limits that never exceed those of the key that creates it", async () => {
  const account = await newAccount();
  const bad = await account.call("POST", "/v1/apiKeys", {
    limits: { requestsPerMinute: -1, concurrentStreams: 1_000_001, queuedJobs: 1 },
  });
  assert.equal(bad.status, 400);
  const fields = detailsOf(bad).BadRequest.fieldViolations.map(
    ({ field }: { field: string }) => field,
  );
  assert.deepEqual(fields, ["limits.requestsPerMinute", "limits.concurrentStreams"]);
  const limits = { queuedJobs: 3, audioSecondsPerDay: 60 };
  const made = await account.call("POST", "/v1/apiKeys", { limits, scopes: [...scopes] });
  assert.deepEqual(made.json.apiKey.limits, limits);
  const byKey = (body: unknown) =>
    callRest(service.address, made.json.secret, { method: "POST", path: "/v1/apiKeys", body });
  const same = await byKey({});
  assert.deepEqual(
    same.json.apiKey.limits,
    limits,
    "without limits in the request it has those of the caller",
  );
  assert.equal((await byKey({ limits: { queuedJobs: 4 } })).status, 400);
  const less = await byKey({ limits: { queuedJobs: 2 } });
  assert.deepEqual(less.json.apiKey.limits, { queuedJobs: 2, audioSecondsPerDay: 60 });
  const listed = (await account.call("GET", "/v1/apiKeys")).json.apiKeys;
  assert.deepEqual(listed[0].limits, { queuedJobs: 2, audioSecondsPerDay: 60 });
});

test("invalid limits are refused, and none of them takes effect", async () => {
  const { id } = await newAccount({ queuedJobs: 1 });
  const rows: [changes: LimitChanges, message: RegExp][] = [
    [
      { queuedJobs: 5, concurrentStreams: -1 },
      /^concurrentStreams: must be a whole number .*, not -1$/,
    ],
    [{ audioSecondsPerDay: 1.5 }, /audioSecondsPerDay: must be .*, not 1\.5$/],
    [{ requestsPerMinute: 2 ** 31 }, /requestsPerMinute: must be .*, not 2147483648$/],
    [{}, /at least one of requestsPerMinute/],
  ];
  for (const [changes, message] of rows) {
    await assert.rejects(setAccountLimits(database.db, operator, id, changes), { message });
  }
  await assert.rejects(setAccountLimits(database.db, operator, newId(), { queuedJobs: 1 }), {
    code: "not_found",
  });
  assert.deepEqual(await setAccountLimits(database.db, operator, id, { storedBytes: 5 }), {
    queuedJobs: 1,
    storedBytes: 5,
  });
  const unset = await setAccountLimits(database.db, operator, id, { queuedJobs: null });
  assert.deepEqual(unset, { storedBytes: 5 });
});
