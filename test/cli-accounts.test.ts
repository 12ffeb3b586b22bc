// Runs `hlust accounts` and `hlust keys` as programs next to a running service, on its own
// database.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { fsckClean } from "./fault/fsck-clean.ts";
import { startService, type ServiceProcess } from "./fault/process.ts";
import { runHlust, type EndedCommand } from "./fixtures/run-hlust.ts";
import { callRest } from "./spec/service.ts";
import { openStream, streamingConfig } from "./spec/stream.ts";
import { until } from "./fixtures/until.ts";

let data: string;
let service: ServiceProcess;
before(async () => {
  data = mkdtempSync(join(tmpdir(), "hlust-cli-accounts-"));
  service = await startService(data, { HLUST_ENGINE: "scripted" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(data, { recursive: true, force: true });
});

const hlust = async (...args: string[]): Promise<EndedCommand> =>
  await runHlust(args, { HLUST_DATA: data });

/** Returns the standard output of a command that succeeds. */
async function out(...args: string[]): Promise<string> {
  const ended = await hlust(...args);
  assert.equal(ended.code, 0, `${args.join(" ")}: ${ended.out}${ended.errors}`);
  return ended.out;
}

const json = async (...args: string[]) => JSON.parse(await out(...args, "--json"));

/** Returns the status of a call with a key. */
async function status(key: string, path = "/v1alpha1/transcripts"): Promise<number> {
  return (await callRest(service.address, key, { method: "GET", path })).status;
}

/**
 * Resolves when calls with the key have this status, which is within a second of the end of the
 * command (docs/api.md, Access), or later on a busy machine. The time is reported as a diagnostic
 * of the test.
 */
async function answersSoon(t: TestContext, key: string, expected: number): Promise<void> {
  const since = performance.now();
  await until(async () => (await status(key)) === expected, 10_000);
  t.diagnostic(`${expected} after ${Math.round(performance.now() - since)} ms`);
}

/** The second account of the service, and a key for it with every scope. */
let radio = "";
let secret = "";

test("a key is created for the only account, is the only text on standard output, and grants its scopes until it is revoked", async (t) => {
  const made = await hlust(
    "keys",
    "create",
    "--name",
    "Studio",
    "--scopes",
    "speech,transcripts.read",
  );
  assert.match(made.out, /^hlust_[0-9a-f]{32}_[\w-]{43}\n$/, made.errors);
  assert.match(
    made.errors,
    /^apiKeys\/\S+ of accounts\/\S+ is created, for transcripts\.read, speech\. It is/,
  );
  const key = made.out.trim();
  assert.ok(!made.errors.includes(key));
  assert.equal(await status(key), 200);
  assert.equal(await status(key, "/v1/apiKeys"), 403);
  const listed = await out("keys", "list");
  assert.match(
    listed,
    /^NAME .*\napiKeys\/.* Studio +transcripts\.read,speech  .*\napiKeys.* First key /,
  );
  assert.ok(!listed.includes(key.slice(-43)));
  const stream = await openStream(service.address, { token: key });
  stream.send(streamingConfig());
  const name = /apiKeys\/\S+/.exec(made.errors)?.[0] ?? assert.fail(made.errors);
  assert.equal(await out("keys", "revoke", name), `${name} (Studio) is revoked\n`);
  await answersSoon(t, key, 401);
  assert.equal(await stream.closed, 1008, "open streams end, too");
  assert.equal(await status(service.key), 200);
});

test("an account is created with a key, renamed, disabled and enabled, and its audit log contains each action", async (t) => {
  const made = await hlust("accounts", "add", "Útvarp", "--key");
  assert.match(made.out, /^hlust_\S+\n$/, made.errors);
  secret = made.out.trim();
  radio = /accounts\/\S+/.exec(made.errors)?.[0] ?? assert.fail(made.errors);
  assert.equal(await status(secret, "/v1/apiKeys"), 200, "every scope");

  const unclear = await hlust("keys", "create");
  assert.deepEqual([unclear.code, unclear.out], [2, ""]);
  assert.match(unclear.errors, /there are 2 accounts: choose one with --account ID/);
  const wanted = ["--account", radio, "--expires", "2999-12-31", "--queued-jobs", "3"];
  const { apiKey } = await json("keys", "create", ...wanted);
  assert.equal(apiKey.expireTime, "2999-12-31T00:00:00.000Z");
  const { keys } = await json("keys", "list", "--account", radio);
  assert.equal(keys.length, 2);
  const [{ scopes, limits, creator }] = keys;
  assert.deepEqual(
    [scopes, limits, creator],
    [["transcripts.read", "transcripts.write", "speech"], { queuedJobs: 3 }, "operator"],
  );

  assert.match(
    await out("accounts", "rename", radio, "Ríkisútvarp"),
    /is now named Ríkisútvarp\n$/,
  );
  assert.match(await out("accounts", "disable", radio), /\(Ríkisútvarp\) is disabled/);
  await answersSoon(t, secret, 401);
  assert.equal(await status(service.key), 200);
  assert.equal((await json("accounts", "enable", radio)).disabledTime, null);
  await answersSoon(t, secret, 200);

  const events = await callRest(service.address, secret, {
    method: "GET",
    path: "/v1/auditEvents",
  });
  const found: Record<string, string>[] = events.json.auditEvents;
  assert.deepEqual(
    found.map(({ actor, action }) => `${actor} ${action}`),
    [
      "operator account.enable",
      "operator account.disable",
      "operator account.update",
      "operator api_key.create",
      "operator api_key.create",
      "operator account.create",
    ],
  );
});

test("members are invited, given roles and removed, but the last owner always stays", async () => {
  const anna = ["--email", "Anna@example.is", "--name", "Anna", "--role", "owner"];
  const added = await out("accounts", "add-member", radio, ...anna);
  assert.match(added, /^Anna@example.is is OWNER: members/);
  const jon = ["--email", "jon@example.is", "--role", "VIEWER"];
  const { name } = await json("accounts", "add-member", radio, ...jon);
  const refused = await hlust("accounts", "remove-member", radio, "anna@example.is");
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /Anna@example\.is is the only owner/);
  assert.equal(
    await out("accounts", "set-role", radio, name, "OWNER"),
    "jon@example.is is OWNER\n",
  );
  assert.match(await out("accounts", "remove-member", radio, "anna@example.is"), /is removed\n$/);
  const { members } = await json("accounts", "members", radio);
  assert.deepEqual(
    members.map(({ email, role }: Record<string, string>) => [email, role]),
    [["jon@example.is", "OWNER"]],
  );
});

test("limits are set and removed, and nothing else is changed", async () => {
  const set = ["--requests-per-minute", "6000", "--stored-bytes", "0"];
  assert.deepEqual(await json("accounts", "limits", radio, ...set), {
    name: radio,
    limits: { requestsPerMinute: 6000, storedBytes: 0 },
  });
  await until(async () => {
    const { json } = await callRest(service.address, secret, {
      method: "GET",
      path: "/v1/account",
    });
    return json.limits.requestsPerMinute === 6000;
  });
  const tooMany = await hlust("accounts", "limits", radio, "--queued-jobs", "3000000000");
  assert.match(tooMany.errors, /queuedJobs: must be a whole number from 0 .*, not 3000000000/);
  const less = ["--requests-per-minute", "default", "--queued-jobs", "5"];
  const shown = await out("accounts", "limits", radio, ...less);
  assert.match(
    shown,
    /:\nqueuedJobs +5\nstoredBytes +none\n$|:\nstoredBytes +none\nqueuedJobs +5\n$/,
  );
});

test("an account is deleted with all its data, and other accounts keep theirs", async (t) => {
  const mine = await holdings(service.key);
  await holdings(secret);
  const shown = await hlust("accounts", "delete", radio);
  assert.equal(shown.code, 1);
  assert.match(
    shown.out,
    /\(Ríkisútvarp\) has 1 transcripts, 1 jobs, 1 members, 2 keys, 0 webhooks, 2 media of 2000 bytes\.\nNothing is deleted/,
  );
  assert.equal(await status(secret), 200);
  assert.equal(mediaFiles(), 4);

  assert.match(await out("accounts", "delete", radio, "--yes"), /All of it is deleted, except/);
  await answersSoon(t, secret, 401);
  assert.equal(mediaFiles(), 2);
  assert.equal((await callRest(service.address, service.key, mine)).status, 200);
  const { accounts } = await json("accounts", "list");
  assert.deepEqual(
    accounts.map(({ displayName }: Record<string, string>) => displayName),
    ["First account"],
  );
  await fsckClean(data);
});

/**
 * Creates a transcript with media, and a job with media that no worker runs; returns the call that
 * reads the transcript.
 */
async function holdings(key: string): Promise<{ method: string; path: string }> {
  const call = async (path: string, body: unknown) => {
    const answer = await callRest(service.address, key, { method: "POST", path, body });
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    return answer.json;
  };
  const put = async (resourceName: string): Promise<string> => {
    const upload = await call("/v1alpha1/initupload", { resourceName });
    const body = new Uint8Array(1000);
    assert.equal((await fetch(upload.storageSignedUrl, { method: "PUT", body })).status, 200);
    return upload.resourceName;
  };
  const metadata = { fileType: "AUDIO", languageCode: "en-US", subject: "s" };
  const { name } = await call("/v1alpha1/transcripts", { metadata });
  await put(name);
  const uri = await put("");
  await call("/v1alpha1/transcriptjob:submit", { metadata, useUri: false, uri });
  return { method: "GET", path: `/v1alpha1/${name}` };
}

function mediaFiles(): number {
  const all = readdirSync(join(data, "media/finished"), { recursive: true, encoding: "utf8" });
  return all.filter((path) => path.includes("/")).length;
}

test("invalid arguments are refused with a reason and change nothing", async () => {
  const rows: [args: string[], code: number, message: RegExp][] = [
    [["accounts", "rename", "First"], 2, /NAME is missing(.|\n)*Usage: hlust accounts <what>/],
    [["accounts", "banish", "x"], 2, /unknown subcommand "banish" of accounts/],
    [
      ["accounts", "disable", "First"],
      1,
      /no account "First": did you mean \S+ \(First account\)\?/,
    ],
    [
      ["accounts", "limits", "x", "--queued-jobs", "1e3"],
      2,
      /--queued-jobs must be a whole number or default, not "1e3"/,
    ],
    [
      ["keys", "revoke", "First ke"],
      1,
      /no key "First ke": did you mean apiKeys\/\S+ \(First key\)\?/,
    ],
    [
      ["keys", "create", "--scopes", "speach"],
      2,
      /"speach", which is not a scope: did you mean speech\?/,
    ],
    [
      ["keys", "create", "--expires", "2027-02-30"],
      2,
      /--expires must be a day .*, not "2027-02-30"/,
    ],
  ];
  for (const [args, code, message] of rows) {
    const ended = await hlust(...args);
    assert.match(ended.errors, message);
    assert.deepEqual([ended.code, ended.out], [code, ""], args.join(" "));
  }
  assert.match(await out("accounts", "--help"), /set-role ID MEMBER ROLE(.|\n)*--stored-bytes N/);
});
