// Signing in to the console and calling the API from it, with a cookie and only from pages of the
// console itself.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { actorOf } from "../../src/auth/open-session.ts";
import { createSignInToken, signInLink } from "../../src/auth/sign-in-token.ts";
import { addApiKey } from "../fixtures/auth-fixture.ts";
import { addSignedIn, consoleHeaders } from "../fixtures/signed-in.ts";
import { callRest, type Answer } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import { openTestConsole, secretSetBy, type TestConsole } from "./open-console.ts";

let console: TestConsole;
before(async () => {
  console = await openTestConsole({ HLUST_PUBLIC_URL: "https://hlust.example" });
});
after(() => console[Symbol.asyncDispose]());

const session = "/console/session";
const account = "/console/api/v1/account";
const reasonOf = ({ json }: Answer): string => json.details[0].reason;

test("an API key signs in, the cookie calls the API, and signing out ends it", async () => {
  const { service, ask, accountId } = console;
  const before = await ask({ path: session });
  // Browsers would report an error at each first visit.
  assert.equal(before.status, 200);
  assert.deepEqual(before.json, { signInWays: ["apiKey"] });
  // A service without mail sends no links.
  const asked = { email: "anna@example.is", languageCode: "is" };
  const link = await ask({ method: "POST", path: `${session}:requestLink`, body: asked });
  assert.equal(link.status, 405);
  const answer = await ask({ method: "POST", path: session, body: { apiKey: service.key } });
  assert.equal(answer.status, 200);
  const [cookie = "", ...others] = answer.headers.getSetCookie();
  assert.deepEqual(others, []);
  const [, secret = "", expires = ""] =
    /^__Host-hlust=(session_[0-9a-f]{32}_[\w-]{43}); Path=\/; Expires=([^;]+); Secure; HttpOnly; SameSite=Strict$/.exec(
      cookie,
    ) ?? [];
  const { expireTime, name, actor, ...facts } = answer.json;
  assert.equal(Date.parse(expires), Math.floor(Date.parse(expireTime) / 1000) * 1000);
  const own = { name: `accounts/${accountId}`, displayName: "First account" };
  assert.deepEqual(facts, {
    displayName: "First key",
    scopes: ["transcripts.read", "transcripts.write", "speech", "account", "operator"],
    account: own,
    accounts: [own],
    signInWays: ["apiKey"],
  });
  assert.match(name, /^sessions\//);
  assert.match(actor, /^apiKeys\//);
  assert.ok(!JSON.stringify(answer.json).includes(secret.slice(-43)), "pages never see the secret");
  assert.deepEqual((await ask({ path: session, secret })).json, answer.json);

  assert.equal((await ask({ path: account, secret })).status, 200);
  const update = { method: "PATCH", path: account, body: { displayName: "Nafn" }, secret };
  assert.equal((await ask(update)).json.displayName, "Nafn");
  assert.equal((await ask({ path: "/console/api/v1/caller", secret })).json.actor, actor);

  const out = await ask({ method: "DELETE", path: session, secret });
  assert.equal(out.status, 200);
  assert.equal(out.headers.get("clear-site-data"), '"cache", "storage"');
  assert.equal(secretSetBy(out), "");
  assert.equal((await ask({ path: account, secret })).status, 401);
  assert.equal((await ask({ method: "DELETE", path: session, secret })).status, 200, "again");
});

test("only pages of the console itself can call with the cookie", async () => {
  const { service, ask, db, accountId } = console;
  const { secret, headers: own } = await addSignedIn(db, accountId, "OWNER");
  const { "sec-fetch-site": _, ...withoutSite } = own;
  const { "x-hlust-console": __, ...unmarked } = own;
  const host = new URL(service.address).host;
  const rows: [row: string, headers: Record<string, string>, get: number, patch: number][] = [
    ["a page of the console", own, 200, 200],
    ["another site", { ...own, "sec-fetch-site": "cross-site" }, 403, 403],
    ["another host of the domain", { ...own, "sec-fetch-site": "same-site" }, 403, 403],
    ["an address typed by hand", { ...own, "sec-fetch-site": "none" }, 403, 403],
    ["a form, or an image", unmarked, 200, 403],
    ["an old browser", { ...withoutSite, origin: `http://${host}` }, 200, 200],
    [
      "an old browser, at the public address",
      { ...withoutSite, origin: "https://hlust.example" },
      200,
      200,
    ],
    ["an old browser, elsewhere", { ...withoutSite, origin: "https://evil.example" }, 403, 403],
    ["an old browser, in a frame", { ...withoutSite, origin: "null" }, 403, 403],
    ["a program", withoutSite, 403, 403],
    ["no cookie", { "sec-fetch-site": "same-origin", "x-hlust-console": "1" }, 401, 401],
    ["two cookies", { ...own, cookie: `${own["cookie"]}; ${own["cookie"]}` }, 401, 401],
    ["another cookie", { ...own, cookie: `hlust=${secret}` }, 401, 401],
    ["a token as well", { ...own, authorization: `Bearer ${service.key}` }, 400, 400],
    [
      "a token alone",
      { ...consoleHeaders(undefined), authorization: `Bearer ${service.key}` },
      401,
      401,
    ],
  ];
  const body = { displayName: "Nafn" };
  for (const [row, headers, get, patch] of rows) {
    const got = await callRest(service.address, undefined, {
      method: "GET",
      path: account,
      headers,
    });
    assert.equal(got.status, get, row);
    assert.equal(got.headers.get("access-control-allow-origin"), null);
    const patched = await callRest(service.address, undefined, {
      method: "PATCH",
      path: account,
      headers,
      body,
    });
    assert.equal(patched.status, patch, row);
  }
  assert.equal((await ask({ path: `${account}?token=${service.key}`, secret })).status, 400);
  assert.equal((await ask({ path: "/console/api/v1/nothing", secret })).status, 404);
  // Every other path serves the page, which decides what to show and accepts no writes.
  const page = await ask({ method: "POST", path: "/console/nothing", secret });
  assert.deepEqual([page.status, page.headers.get("allow")], [405, "GET, HEAD"]);
  const put = await ask({ method: "PUT", path: session, secret });
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, POST, DELETE"]);
});

test("signing in creates a new secret and ends the browser's previous session", async () => {
  const { service, ask, signIn } = console;
  const body = { apiKey: service.key };
  const planted = `session_${"0".repeat(32)}_${"A".repeat(43)}`;
  const first =
    secretSetBy(await ask({ method: "POST", path: session, body, secret: planted })) ?? "";
  assert.notEqual(first, planted);
  const second =
    secretSetBy(await ask({ method: "POST", path: session, body, secret: first })) ?? "";
  assert.equal((await ask({ path: account, secret: first })).status, 401);
  assert.equal((await ask({ path: account, secret: second })).status, 200);
  assert.notEqual(await signIn(), await signIn());
});

test("every failed sign-in gets the same response, which repeats nothing from the request", async () => {
  const { service, ask, db, accountId } = console;
  const late = await addApiKey(db, accountId, ["speech"], new Date(Date.now() - 1));
  const wrong = service.key.slice(0, -2) + (service.key.endsWith("AA") ? "BB" : "AA");
  const refused = [wrong, wrong, late.token, late.token, "x", "hlust_x", "", "a.b.c"].map(
    (apiKey) => ({ apiKey }),
  );
  for (const body of refused) {
    const answer = await ask({ method: "POST", path: session, body });
    assert.equal(answer.status, 401);
    assert.equal(reasonOf(answer), "SIGN_IN_REFUSED");
    assert.equal(answer.json.message, "this API key is wrong, expired or revoked");
    assert.equal(secretSetBy(answer), undefined);
  }
  const broken = ["{", "[]", "null", "1", "{}", '{"apiKey":1}', '{"apiKey":"a","signInToken":"b"}'];
  for (const body of broken) {
    assert.equal((await ask({ method: "POST", path: session, body })).status, 400, body);
  }
  const form = { "content-type": "text/plain" };
  const body = { apiKey: service.key };
  assert.equal((await ask({ method: "POST", path: session, body, headers: form })).status, 415);
  const huge = { apiKey: "x".repeat(20_000) };
  assert.equal((await ask({ method: "POST", path: session, body: huge })).status, 413);
  const elsewhere = { "sec-fetch-site": "cross-site" };
  assert.equal(
    (await ask({ method: "POST", path: session, body, headers: elsewhere })).status,
    403,
  );

  const events = await db
    .selectFrom("audit_event")
    .select(["actor", "details"])
    .where("action", "=", "sign_in.refused")
    .orderBy("id")
    .execute();
  assert.deepEqual(
    events.map(({ actor, details }) => [actor.split("/")[0], details["reason"]]),
    [
      ["apiKeys", "wrong_secret"],
      ["apiKeys", "expired"],
    ],
    "recorded once a minute, if the account is known",
  );
});

test("over http sign-in works only on the machine itself, since browsers drop the cookie of other hosts", async () => {
  const { service, ask } = console;
  const rows: [origin: string, status: number][] = [
    ["https://hlust.example", 200],
    ["http://127.0.0.1:8080", 200],
    ["http://localhost:8080", 200],
    ["http://[::1]:8080", 200],
    ["http://192.168.1.5:8080", 400],
    ["http://localhost.example", 400],
    ["http://127.0.0.1.example", 400],
  ];
  for (const [origin, status] of rows) {
    const body = { apiKey: service.key };
    const answer = await ask({ method: "POST", path: session, body, headers: { origin } });
    assert.equal(answer.status, status, origin);
    if (status !== 200) assert.equal(reasonOf(answer), "HTTPS_NEEDED");
  }
});

test("a member has the scopes of the role until the member is removed", async () => {
  const { ask, db, accountId, signIn } = console;
  const owner = await signIn();
  const viewer = await addSignedIn(db, accountId, "VIEWER");
  const { secret } = viewer;
  assert.equal((await ask({ path: "/console/api/v1alpha1/transcripts", secret })).status, 200);
  const refused = await ask({ path: "/console/api/v1/apiKeys", secret });
  assert.deepEqual([refused.status, reasonOf(refused)], [403, "SCOPE_MISSING"]);
  const name = `members/${viewer.memberId}`;
  const gone = await ask({ method: "DELETE", path: `/console/api/v1/${name}`, secret: owner });
  assert.equal(gone.status, 200);
  await until(async () => (await ask({ path: account, secret })).status === 401);
});

test("an owner can list and end all sessions, and other members only their own", async () => {
  const { ask, db, accountId, signIn } = console;
  const owner = await signIn();
  const [viewer, other] = [
    await addSignedIn(db, accountId, "VIEWER"),
    await addSignedIn(db, accountId, "MEMBER"),
  ];
  const list = async (secret: string) =>
    (await ask({ path: "/console/api/v1/sessions", secret })).json.sessions;
  const own = await list(viewer.secret);
  assert.deepEqual(
    own.map(({ name, actor, isCurrent, address }: Record<string, unknown>) => [
      name,
      actor,
      isCurrent,
      address,
    ]),
    [[`sessions/${viewer.sessionId}`, `members/${viewer.memberId}`, true, "192.0.2.1"]],
  );
  const all: { name: string; isCurrent?: boolean }[] = await list(owner);
  assert.deepEqual(
    [viewer, other].map(({ sessionId }) =>
      all.some(({ name }) => name === `sessions/${sessionId}`),
    ),
    [true, true],
  );
  assert.equal(all.filter(({ isCurrent }) => isCurrent).length, 1);

  const end = async (sessionId: string, secret: string) =>
    (await ask({ method: "DELETE", path: `/console/api/v1/sessions/${sessionId}`, secret })).status;
  assert.equal(
    await end(other.sessionId, viewer.secret),
    404,
    "another session seems not to exist",
  );
  assert.equal(await end(other.sessionId, owner), 200);
  assert.equal(await end(other.sessionId, owner), 404);
  await until(
    async () => (await ask({ path: account, secret: other.secret })).status === 401,
    1000,
  );
  assert.equal(await end(viewer.sessionId, viewer.secret), 200, "their own session");
});

test("a link signs in once, within ten minutes", async () => {
  const { ask, db, accountId } = console;
  const key = await db
    .selectFrom("api_key")
    .select("id")
    .where("display_name", "=", "First key")
    .executeTakeFirstOrThrow();
  const owner = { accountId, apiKeyId: key.id };
  const signInToken = await createSignInToken(db, owner);
  assert.equal(
    signInLink("https://hlust.example", signInToken),
    `https://hlust.example/console/#signInToken=${signInToken}`,
  );
  const follow = (token: string) =>
    ask({ method: "POST", path: session, body: { signInToken: token } });
  const changed = signInToken.slice(0, -2) + (signInToken.endsWith("AA") ? "BB" : "AA");
  assert.equal((await follow(changed)).status, 401);
  const answers = await Promise.all([follow(signInToken), follow(signInToken)]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 401]));
  const signedIn = answers.find(({ status }) => status === 200);
  assert.equal(signedIn?.json.actor, actorOf(owner));
  const late = await createSignInToken(db, owner, {
    now: () => Date.now() - 600_000,
  });
  assert.equal((await follow(late)).status, 401);
  const rows = await db.selectFrom("sign_in_token").selectAll().execute();
  assert.equal(
    rows.length,
    2,
    "the expired one and that of the first start are left; the used one is gone",
  );
  assert.ok(!JSON.stringify(rows).includes(late.slice(-43)));
});

test("a response to a secret older than an hour sets a new one, even if the call fails", async () => {
  const { ask, db, signIn } = console;
  const paths = [account, "/console/api/v1/nothing", session];
  const secrets = [await signIn(), await signIn(), await signIn()];
  const hourAgo = new Date(Date.now() - 3_600_000);
  await db.updateTable("session").set({ rotated_at: hourAgo }).execute();
  for (const [index, path] of paths.entries()) {
    const secret = secrets[index];
    let renewed: string | undefined;
    await until(async () => {
      renewed = secretSetBy(await ask({ path, secret }));
      return renewed !== undefined;
    });
    assert.ok(renewed !== undefined && renewed !== secret);
    assert.equal((await ask({ path: account, secret: renewed })).status, 200);
  }
});
