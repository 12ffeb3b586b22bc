// Shares (extension): links with which a transcript is read without an account.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { removeOldShares } from "../../src/transcripts/old-shares.ts";
import { readingsPerMinuteMax } from "../../src/transcripts/shared-transcript.ts";
import { shareLimits } from "../../src/transcripts/share-methods.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { speak } from "../fixtures/flite.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import { callRest, openTestService, type Answer, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

const parts = new AsyncDisposableStack();
let service: TestService;
let database: Database;
before(async () => {
  service = parts.use(await openTestService({ HLUST_ENGINE: "scripted" }));
  const folder = join(service.dataFolder, "postgres");
  database = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") }));
});
after(() => parts.disposeAsync());

const dayMs = 86_400_000;

/** Creates a transcript with media; its metadata has more than a link may show. */
async function newTranscript(): Promise<string> {
  const draft = draftOf("Viðtal", {
    description: "aðeins fyrir okkur",
    keywords: ["leynd"],
    additionalMetadata: { mál: "7" },
    speakers: { a: { ...speaker("Anna"), ageGroup: "ADULT", gender: "FEMALE" } },
  });
  const segments = [{ ...segmentOf("Góðan dag"), speakerId: "a" }];
  const { json } = await service.call("POST", "/v1alpha1/transcripts", { ...draft, segments });
  const upload = { resourceName: json.name, filename: "leyndarmál.wav" };
  const { json: begun } = await service.call("POST", "/v1alpha1/initupload", upload);
  const body = speak("good day");
  assert.equal((await fetch(begun.storageSignedUrl, { method: "PUT", body })).status, 200);
  await until(async () => {
    const { json: described } = await service.call("GET", `/v1alpha1/${json.name}`);
    return described.metadata.waveformUri !== "";
  });
  return json.name;
}

const createShare = async (name: string, share: object = {}): Promise<Answer> =>
  await service.call("POST", `/v1alpha1/${name}/shares`, share);
const tokenOf = ({ json }: Answer): string => json.uri.split("/").at(-1);
const read = async (token: string, method = "GET"): Promise<Answer> =>
  await callRest(service.address, undefined, { method, path: `/v1alpha1/shared/${token}` });
const reasonOf = ({ json }: Answer): string => json.error.details[0].reason;

test("a link shows the text and the names, and nothing else of the transcript or the account", async () => {
  const name = await newTranscript();
  const made = await createShare(name, { note: "fyrir Jón" });
  assert.equal(made.status, 200);
  const { uri, createTime, expireTime, ...rest } = made.json;
  assert.match(
    uri,
    new RegExp(`^${service.address}/console/shared/hlust_share_[0-9a-f]{32}_[\\w-]{43}$`),
  );
  assert.equal(Date.parse(expireTime) - Date.parse(createTime), 30 * dayMs);
  const { json: keys } = await service.call("GET", "/v1/apiKeys");
  const author = keys.apiKeys.find((key: { name: string }) => key.name === rest.author);
  assert.ok(author.displayName.length > 0);
  assert.deepEqual(
    { ...rest, name: "" },
    {
      name: "",
      withMedia: false,
      author: author.name,
      authorName: author.displayName,
      version: "",
      note: "fyrir Jón",
      lastReadTime: null,
    },
  );
  const shared = await read(tokenOf(made));
  assert.equal(shared.status, 200);
  const { json: whole } = await service.call("GET", `/v1alpha1/${name}`);
  assert.deepEqual(shared.json, {
    metadata: {
      fileType: "AUDIO",
      languageCode: "is-IS",
      subject: "Viðtal",
      recordingDuration: whole.metadata.recordingDuration,
      speakers: { a: { fullName: "Anna" } },
    },
    segments: whole.segments,
    uri: "",
    version: { name: whole.version.name, creationTime: whole.version.creationTime },
  });
  for (const [header, value] of [
    ["x-robots-tag", "noindex"],
    ["referrer-policy", "no-referrer"],
    ["cache-control", "no-store"],
    ["x-content-type-options", "nosniff"],
  ] as const) {
    assert.equal(shared.headers.get(header), value, header);
  }
  const page = await fetch(uri);
  assert.equal(page.headers.get("x-robots-tag"), "noindex");
  assert.equal(page.headers.get("referrer-policy"), "no-referrer");
  const head = await fetch(`${service.address}/v1alpha1/shared/${tokenOf(made)}`, {
    method: "HEAD",
  });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
});

test("a link with media has URLs of the media that work for ten minutes", async () => {
  const made = await createShare(await newTranscript(), { withMedia: true });
  const { json } = await read(tokenOf(made));
  for (const uri of [json.uri, json.metadata.waveformUri]) {
    assert.equal((await fetch(uri)).status, 200);
    const left = Number(new URL(uri).searchParams.get("expires")) * 1000 - Date.now();
    assert.ok(left > 590_000 && left <= 600_000, `${left}`);
  }
  const soon = new Date(Date.now() + 20_000).toISOString();
  const brief = await createShare(made.json.name.split("/shares/")[0], {
    withMedia: true,
    expireTime: soon,
  });
  const { json: ending } = await read(tokenOf(brief));
  const expires = Number(new URL(ending.uri).searchParams.get("expires")) * 1000;
  assert.ok(expires <= Date.parse(soon), "the URL does not outlive the link");
});

test("a link shows the current version, or the one that it names", async () => {
  const name = await newTranscript();
  const { json: first } = await service.call("GET", `/v1alpha1/${name}`);
  const current = tokenOf(await createShare(name));
  const fixed = tokenOf(await createShare(name, { version: first.version.name }));
  await service.call("PATCH", `/v1alpha1/${name}`, { segments: [segmentOf("breytt")] });
  assert.equal((await read(current)).json.segments[0].words[0].word, "breytt");
  assert.deepEqual((await read(fixed)).json.segments, first.segments);
});

test("links are listed without their tokens, with the time of the last reading", async () => {
  const name = await newTranscript();
  const list = async () => (await service.call("GET", `/v1alpha1/${name}/shares`)).json.shares;
  assert.deepEqual(await list(), []);
  const one = await createShare(name);
  const two = await createShare(name, { withMedia: true });
  const expected = [two, one].map(({ json }) => ({ ...json, uri: "" }));
  assert.deepEqual(await list(), expected);
  await read(tokenOf(one));
  await until(async () => (await list())[1].lastReadTime !== null);
  const [unread, used] = await list();
  assert.equal(unread.lastReadTime, null);
  const age = Date.now() - Date.parse(used.lastReadTime);
  assert.ok(age >= 0 && age < 120_000 && Date.parse(used.lastReadTime) % 60_000 === 0, `${age}`);
});

test("a link ends when it is revoked, expires, or its transcript is deleted", async () => {
  const name = await newTranscript();
  const revoked = await createShare(name);
  const expired = await createShare(name);
  const deleted = await createShare(name);
  for (const each of [revoked, expired, deleted])
    assert.equal((await read(tokenOf(each))).status, 200);
  const path = `/v1alpha1/${revoked.json.name}`;
  assert.deepEqual((await service.call("DELETE", path)).json, {});
  const again = await service.call("DELETE", path);
  assert.deepEqual([again.status, reasonOf(again)], [404, "SHARE_NOT_FOUND"]);
  await database.db
    .updateTable("transcript_share")
    .set({ expires_at: new Date(Date.now() - 1) })
    .where("id", "=", expired.json.name.slice(-36))
    .execute();
  const { json: listed } = await service.call("GET", `/v1alpha1/${name}/shares`);
  assert.deepEqual(
    listed.shares.map((each: { name: string }) => each.name),
    [deleted.json.name],
  );
  await removeOldShares({ db: database.db, log: createLog("silent") });
  const ids = await database.db.selectFrom("transcript_share").select("id").execute();
  assert.ok(!ids.some(({ id }) => expired.json.name.endsWith(id)), "an expired share is removed");
  await service.call("DELETE", `/v1alpha1/${name}`);
  for (const each of [revoked, expired, deleted]) {
    const answer = await read(tokenOf(each));
    assert.deepEqual([answer.status, reasonOf(answer)], [404, "SHARE_NOT_FOUND"]);
    assert.equal(answer.headers.get("x-robots-tag"), "noindex");
  }
  const { json } = await service.call("GET", "/v1/auditEvents?pageSize=100");
  const acts = json.auditEvents.filter(({ resource }: { resource: string }) =>
    resource.startsWith(`${name}/shares/`),
  );
  assert.deepEqual(acts.map(({ action }: { action: string }) => action).toSorted(), [
    "share.create",
    "share.create",
    "share.create",
    "share.delete",
  ]);
});

test("the links of a disabled account show nothing", async () => {
  const accountId = await addAccount(database.db);
  const { token: key } = await addApiKey(database.db, accountId, [
    "transcripts.read",
    "transcripts.write",
  ]);
  const call = async (method: string, path: string, body: unknown): Promise<Answer> =>
    await callRest(service.address, key, { method, path, body });
  const { json } = await call("POST", "/v1alpha1/transcripts", draftOf("fundur"));
  const made = await call("POST", `/v1alpha1/${json.name}/shares`, {});
  assert.equal((await read(tokenOf(made))).status, 200);
  await database.db
    .updateTable("account")
    .set({ disabled_at: new Date() })
    .where("id", "=", accountId)
    .execute();
  assert.equal((await read(tokenOf(made))).status, 404);
});

test("wrong values of a new link are refused, and nothing is stored", async () => {
  const name = await newTranscript();
  const other = await newTranscript();
  const { json: foreign } = await service.call("GET", `/v1alpha1/${other}`);
  const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
  const rows: [of: string, share: object, status: number, message: RegExp][] = [
    [name, { expireTime: inDays(-1) }, 400, /share.expireTime: must be in the future, at most 366/],
    [
      name,
      { expireTime: inDays(367) },
      400,
      /share.expireTime: must be in the future, at most 366/,
    ],
    [name, { expireTime: "á morgun" }, 400, /expireTime/],
    [name, { note: "x".repeat(1001) }, 400, /share.note: has 1001 characters; at most 1000/],
    [name, { note: "\0" }, 400, /share.note: has a NUL/],
    [name, { withMedia: "kannski" }, 400, /withMedia/],
    [name, { password: "x" }, 400, /password/],
    [name, { version: "x" }, 404, /there is no version/],
    [name, { version: newId() }, 404, /there is no version/],
    [name, { version: foreign.version.name }, 404, /there is no version/],
    ["transcripts/x", {}, 404, /there is no transcript/],
    [`transcripts/${newId()}`, {}, 404, /there is no transcript/],
  ];
  for (const [of, share, status, message] of rows) {
    const answer = await createShare(of, share);
    assert.equal(answer.status, status, JSON.stringify([of, share]));
    assert.match(answer.json.message, message);
  }
  assert.deepEqual((await service.call("GET", `/v1alpha1/${name}/shares`)).json, { shares: [] });
});

test("a transcript has at most a hundred links", async () => {
  const name = await newTranscript();
  const made = await Promise.all(
    Array.from({ length: shareLimits.perTranscript + 5 }, async () => await createShare(name)),
  );
  const refused = made.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map((answer) => [answer.status, reasonOf(answer)]),
    Array.from({ length: 5 }, () => [400, "TOO_MANY_SHARES"]),
  );
  const first = made.find(({ status }) => status === 200);
  await service.call("DELETE", `/v1alpha1/${first?.json.name}`);
  assert.equal((await createShare(name)).status, 200);
});

test("other tokens, methods and paths are refused, and guessing is slowed down", async () => {
  const made = await createShare(await newTranscript());
  const token = tokenOf(made);
  const last = token.at(-1) === "A" ? "B" : "A";
  const wrong = [
    "",
    "x",
    "hlust_share_",
    service.key,
    token.slice(0, -1),
    `${token.slice(0, -1)}${last}`,
    `${token}x`,
    `${token}/`,
    encodeURIComponent(`${token} `),
    token.replace("hlust_share_", "hlust_"),
  ];
  for (const each of wrong) {
    const answer = await read(each);
    assert.deepEqual([answer.status, reasonOf(answer)], [404, "SHARE_NOT_FOUND"], each);
  }
  assert.equal((await read(token, "POST")).status, 405);
  assert.equal((await read(token, "DELETE")).status, 405);
  // The token is not a credential of the API.
  for (const path of ["/v1/caller", `/v1alpha1/${made.json.name.split("/shares/")[0]}`]) {
    assert.equal((await callRest(service.address, token, { method: "GET", path })).status, 401);
  }
  await using limited = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_REFUSED_PER_MINUTE: "3",
  });
  const guess = async () => {
    const path = `/v1alpha1/shared/hlust_share_${newId().replaceAll("-", "")}_${"A".repeat(43)}`;
    return (await callRest(limited.address, undefined, { method: "GET", path })).status;
  };
  assert.deepEqual(
    [await guess(), await guess(), await guess(), await guess()],
    [404, 404, 404, 429],
  );
});

test("a key that may not read cannot make a link with which it could", async () => {
  const name = await newTranscript();
  const { json: account } = await service.call("GET", "/v1/caller");
  const { token: key } = await addApiKey(database.db, account.account.split("/")[1], [
    "transcripts.write",
  ]);
  const call = { method: "POST", path: `/v1alpha1/${name}/shares`, body: {} };
  const answer = await callRest(service.address, key, call);
  assert.deepEqual([answer.status, reasonOf(answer)], [403, "SCOPE_MISSING"]);
});

test("eight hours are read as they are stored", async () => {
  const segments = longSegments(72_000);
  const draft = { ...draftOf("Átta tímar"), segments };
  const { json: created } = await service.call("POST", "/v1alpha1/transcripts", draft);
  const token = tokenOf(await createShare(created.name));
  const { json: whole } = await service.call("GET", `/v1alpha1/${created.name}`);
  assert.deepEqual((await read(token)).json.segments, whole.segments);
  const { request } = await import("undici");
  const zstd = await request(`${service.address}/v1alpha1/shared/${token}`, {
    headers: { "accept-encoding": "zstd" },
  });
  assert.equal(zstd.headers["content-encoding"], "zstd");
  const bytes = Buffer.from(await zstd.body.arrayBuffer());
  assert.ok(bytes.length < 1_000_000, `${bytes.length}`);
  const { segments: stored } = JSON.parse(zstdDecompressSync(bytes).toString());
  assert.deepEqual(stored, whole.segments);
});

test("a link can be read 300 times a minute; other links and the account are not affected", async () => {
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("Fundur"));
  const [busy, quiet] = [await createShare(json.name), await createShare(json.name)];
  const statuses: number[] = [];
  const readAll = async (): Promise<void> => {
    while (statuses.length < readingsPerMinuteMax) {
      statuses.push(0);
      const at = statuses.length - 1;
      statuses[at] = (await read(tokenOf(busy), at % 2 === 0 ? "GET" : "HEAD")).status;
    }
  };
  await Promise.all(Array.from({ length: 4 }, readAll));
  assert.deepEqual(new Set(statuses), new Set([200]));
  // When a minute of the clock has just begun, a few more are within 60 s.
  let refused = await read(tokenOf(busy));
  for (let more = 0; more < 100 && refused.status === 200; more++) {
    refused = await read(tokenOf(busy));
  }
  assert.equal(refused.status, 429);
  assert.equal(reasonOf(refused), "TOO_MANY_REQUESTS");
  const seconds = Number(refused.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 61, `${seconds} s`);
  assert.equal((await read(tokenOf(quiet))).status, 200);
  assert.equal((await service.call("GET", `/v1alpha1/${json.name}`)).status, 200);
});
