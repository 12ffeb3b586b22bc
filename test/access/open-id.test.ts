// Sign-in to the console with OpenID Connect and a real provider (oidc-provider).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newId } from "../../src/std/ids.ts";
import { addAccount } from "../fixtures/auth-fixture.ts";
import { addMember } from "../fixtures/signed-in.ts";
import { unsentMail } from "../fixtures/unsent-mail.ts";
import { openTestConsole, secretSetBy, type TestConsole } from "./open-console.ts";
import { openTestProvider, type TestPerson, type TestProvider } from "./open-test-provider.ts";
import { TestBrowser } from "./test-browser.ts";

const opened = new AsyncDisposableStack();
let provider: TestProvider;
let console: TestConsole;
let callback: string;

before(async () => {
  provider = opened.use(await openTestProvider());
  console = opened.use(
    await openTestConsole({
      HLUST_OIDC_ISSUER: provider.issuer,
      HLUST_OIDC_CLIENT_ID: "hlust",
      HLUST_OIDC_CLIENT_SECRET: "hlust secret",
      ...unsentMail,
      HLUST_REFUSED_PER_MINUTE: "60",
    }),
  );
  callback = `${console.service.address}/console/sign-in/callback`;
  provider.register(callback);
});
after(() => opened.disposeAsync());

let people = 0;
/** A user without an invitation. */
const newPerson = (facts: Partial<TestPerson> = {}): TestPerson => {
  people += 1;
  const name = `person${people}`;
  return { subject: name, email: `${name}@example.org`, emailVerified: true, ...facts };
};

const invite = async (email: string, role = "MEMBER"): Promise<string> => {
  const { json } = await console.service.call("POST", "/v1/members", { email, role });
  return json.name;
};

const sessionSecret = (browser: TestBrowser) => browser.cookies.get("127.0.0.1 __Host-hlust");

/** Signs in with a new browser; returns the browser and the URL at which it ends up. */
async function signIn(person: TestPerson | undefined, browser = new TestBrowser()) {
  provider.person = person;
  const end = await browser.go(`${console.service.address}/console/sign-in`);
  return { browser, end, secret: sessionSecret(browser) };
}

const sessionOf = async (secret: string | undefined) =>
  (await console.ask({ path: "/console/session", secret })).json;

const problemOf = (end: URL) => new URLSearchParams(end.hash.slice(1)).get("problem");

test("an unavailable provider is reported, and contacted again later", async () => {
  provider.isDown = true;
  assert.equal(problemOf((await signIn(undefined)).end), "PROVIDER_AWAY");
  provider.isDown = false;
  assert.equal(problemOf((await signIn(undefined)).end), "PROVIDER_REFUSED");
});

test("a member is identified by the verified address at the first sign-in, and later by the provider's subject", async () => {
  const { ask, service } = console;
  const person = newPerson({ email: "Anna@Example.org" });
  const name = await invite("anna@example.ORG", "VIEWER");
  const ways = (await ask({ path: "/console/session" })).json;
  // A mailbox is not enough where the provider may ask for a second factor.
  assert.deepEqual(ways, { signInWays: ["apiKey", "openId"] });
  const asked = { email: "anna@example.org", languageCode: "is" };
  const path = "/console/session:requestLink";
  assert.equal((await ask({ method: "POST", path, body: asked })).status, 405);

  const { end, secret, browser } = await signIn(person);
  assert.equal(end.href, `${service.address}/console/`);
  const session = await sessionOf(secret);
  assert.deepEqual(
    [session.actor, session.role, session.scopes],
    [name, "VIEWER", ["transcripts.read"]],
  );
  assert.equal((await ask({ path: "/console/api/v1/apiKeys", secret })).status, 403);
  assert.ok(!browser.cookies.has("127.0.0.1 __Host-hlust-sign-in"), "the cookie is deleted");
  const { json } = await service.call("GET", "/v1/members");
  const member = json.members.find((each: { name: string }) => each.name === name);
  assert.ok(Math.abs(Date.parse(member.lastSignInTime) - Date.now()) < 60_000);

  const renamed = await signIn({ ...person, email: "anna.b@example.org" });
  assert.equal((await sessionOf(renamed.secret)).actor, name, "another address, the same person");
  const heir = await signIn(newPerson({ email: "anna@example.org" }));
  assert.equal(problemOf(heir.end), "NOT_A_MEMBER", "the same address, another person");
  assert.equal(heir.secret, undefined);
});

test("the code flow uses PKCE, state and nonce, and the browser returns with only a code", async () => {
  const person = newPerson();
  await invite(person.email);
  const { browser } = await signIn(person);
  const asked = browser.visited.find((url) => url.startsWith(`${provider.issuer}/auth?`)) ?? "";
  const query = new URL(asked).searchParams;
  assert.deepEqual(
    [query.get("response_type"), query.get("code_challenge_method"), query.get("redirect_uri")],
    ["code", "S256", callback],
  );
  for (const name of ["state", "nonce", "code_challenge"]) {
    assert.match(query.get(name) ?? "", /^[\w-]{43}$/, name);
  }
  const back = browser.visited.find((url) => url.startsWith(callback)) ?? "";
  assert.deepEqual(
    Array.from(new URL(back).searchParams.keys()).toSorted((a, b) => a.localeCompare(b)),
    ["code", "iss", "state"],
  );
});

test("users who are not members return with a reason and without a session", async () => {
  const { db, accountId } = console;
  const unverified = newPerson({ emailVerified: false });
  await invite(unverified.email);
  const kelvin = newPerson({ email: "\u212Aari@example.org" });
  await invite("kari@example.org");
  const rows: [row: string, person: TestPerson | undefined, problem: string][] = [
    ["not invited", newPerson(), "NOT_A_MEMBER"],
    ["not verified", unverified, "EMAIL_NOT_VERIFIED"],
    ["an address whose lower case is that of another person", kelvin, "NOT_A_MEMBER"],
    ["without an address", newPerson({ email: "" }), "NOT_A_MEMBER"],
    ["refused by the provider", undefined, "PROVIDER_REFUSED"],
  ];
  for (const [row, person, problem] of rows) {
    const { end, secret } = await signIn(person);
    assert.deepEqual(
      [problemOf(end), end.pathname, secret],
      [problem, "/console/", undefined],
      row,
    );
  }
  const events = await db
    .selectFrom("audit_event")
    .select("details")
    .where("account_id", "=", accountId)
    .where("action", "=", "sign_in.refused")
    .execute();
  assert.ok(events.some(({ details }) => details["reason"] === "other_identity"));
});

test("a callback must be new and must belong to this browser and this sign-in", async () => {
  const person = newPerson();
  await invite(person.email);
  const { browser } = await signIn(person);
  const used = browser.visited.find((url) => url.startsWith(callback)) ?? "";
  assert.equal(
    problemOf(await new TestBrowser().go(used)),
    "SIGN_IN_EXPIRED",
    "no sign-in began here",
  );

  /**
   * Returns a browser that has left for the provider, and the URL with which it would come back.
   */
  const away = async () => {
    const left = new TestBrowser();
    const { address } = console.service;
    const response = await fetch(`${address}/console/sign-in`, { redirect: "manual" });
    const [, cookie = ""] =
      /^__Host-hlust-sign-in=([^;]+); Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/.exec(
        response.headers.getSetCookie()[0] ?? "",
      ) ?? [];
    assert.notEqual(cookie, "");
    const elsewhere = new TestBrowser();
    // This browser does not return to the service, so the code stays unused.
    await elsewhere.go(response.headers.get("location") ?? "");
    const url = elsewhere.visited.find((each) => each.startsWith(callback)) ?? "";
    left.cookies.set("127.0.0.1 __Host-hlust-sign-in", cookie);
    return { left, url: new URL(url) };
  };
  const [one, other] = [await away(), await away()];
  const rows: [string, URL][] = [
    ["another's code and state", other.url],
    ["another's code", withQuery(one.url, { code: other.url.searchParams.get("code") ?? "" })],
    ["another state", withQuery(one.url, { state: "x" })],
    ["no state", withQuery(one.url, { state: "" })],
    ["another issuer", withQuery(one.url, { iss: "https://evil.example" })],
    ["no code", withQuery(one.url, { code: "" })],
  ];
  for (const [row, url] of rows) {
    const { left } = one;
    const kept = left.cookies.get("127.0.0.1 __Host-hlust-sign-in") ?? "";
    assert.equal(problemOf(await left.go(url.href)), "PROVIDER_FAILED", row);
    assert.equal(sessionSecret(left), undefined, row);
    left.cookies.set("127.0.0.1 __Host-hlust-sign-in", kept);
  }
});

test("the browser returns only to where it was in the console", async () => {
  const { address } = console.service;
  const person = newPerson();
  await invite(person.email);
  provider.person = person;
  const rows: [to: string, end: string][] = [
    ["/console/transcripts/1?page=2", "/console/transcripts/1?page=2"],
    ["https://evil.example/console/", "/console/"],
    ["//evil.example/console/", "/console/"],
    ["/console/\r\nset-cookie: a=b", "/console/"],
    ["/v1/account", "/console/"],
    ["/console/#signInToken=x", "/console/"],
    [`/console/${"a".repeat(1000)}`, "/console/"],
  ];
  for (const [to, expected] of rows) {
    const browser = new TestBrowser();
    const end = await browser.go(
      `${address}/console/sign-in?${new URLSearchParams({ to }).toString()}`,
    );
    assert.equal(end.href, address + expected, to);
    assert.ok(sessionSecret(browser) !== undefined, to);
  }
  const byName = address.replace("127.0.0.1", "localhost");
  const browser = new TestBrowser();
  assert.equal((await browser.go(`${byName}/console/sign-in`)).href, `${address}/console/`);
});

test("signing in again ends the previous session", async () => {
  const person = newPerson();
  await invite(person.email);
  const first = await signIn(person);
  const { secret: second } = await signIn(person, first.browser);
  assert.notEqual(second, first.secret);
  assert.equal(
    (await console.ask({ path: "/console/settings", secret: first.secret })).status,
    401,
  );
  assert.equal((await sessionOf(second)).displayName, person.email);
});

test("a member of several accounts starts in the account used last, and can switch accounts", async () => {
  const { db, accountId, ask } = console;
  const person = newPerson();
  const [second, third, foreign] = [
    await addAccount(db),
    await addAccount(db),
    await addAccount(db),
  ];
  await invite(person.email);
  for (const account of [second, third]) await addMember(db, account, "OWNER", person.email);
  const stranger = newPerson();
  await addMember(db, foreign, "OWNER", stranger.email);
  await signIn(stranger);
  const { secret: first } = await signIn(person);
  const session = await sessionOf(first);
  const names = session.accounts.map(({ name }: { name: string }) => name);
  assert.deepEqual(
    new Set(names),
    new Set([accountId, second, third].map((id) => `accounts/${id}`)),
  );
  assert.equal(session.account.name, names[0]);

  const change = (account: string, secret: string | undefined) =>
    ask({ method: "POST", path: "/console/session:switch", body: { account }, secret });
  const there = await change(`accounts/${third}`, first);
  assert.deepEqual(
    [there.status, there.json.account.name, there.json.role],
    [200, `accounts/${third}`, "OWNER"],
  );
  assert.equal((await ask({ path: "/console/settings", secret: first })).status, 401);
  const moved = secretSetBy(there);
  assert.equal(
    (await ask({ path: "/console/api/v1/account", secret: moved })).json.name,
    `accounts/${third}`,
  );
  assert.equal(
    (await sessionOf((await signIn(person)).secret)).account.name,
    `accounts/${third}`,
    "the account used last",
  );

  await db
    .updateTable("account")
    .set({ disabled_at: new Date() })
    .where("id", "in", [second, third])
    .execute();
  const { secret } = await signIn(person);
  const left = await sessionOf(secret);
  assert.deepEqual(
    left.accounts.map(({ name }: { name: string }) => name),
    [`accounts/${accountId}`],
  );
  for (const [account, status] of [
    [`accounts/${second}`, 404],
    [`accounts/${foreign}`, 404],
    [`accounts/${newId()}`, 404],
    ["x", 400],
  ] as const) {
    assert.equal((await change(account, secret)).status, status, account);
  }
  assert.equal(
    (await change(`accounts/${accountId}`, undefined)).status,
    401,
    "no user is signed in",
  );
  assert.equal(
    (await sessionOf(secret)).account.name,
    `accounts/${accountId}`,
    "nothing was lost by it",
  );
});

// This test must be the last, because it uses up the attempts of this machine.
test("only a few invented codes reach the provider", async () => {
  const { address } = console.service;
  const begun = await fetch(`${address}/console/sign-in`, { redirect: "manual" });
  const [cookie = ""] = begun.headers.getSetCookie()[0]?.split(";") ?? [];
  const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? "";
  const problems = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const query = new URLSearchParams({ code: `made-up-${index}`, state, iss: provider.issuer });
      const url = `${callback}?${query.toString()}`;
      const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
      return problemOf(new URL(answer.headers.get("location") ?? ""));
    }),
  );
  const counts = Object.groupBy(problems, (problem) => problem ?? "");
  assert.deepEqual(Object.keys(counts).toSorted(), ["PROVIDER_FAILED", "TOO_MANY_REFUSED"]);
});

function withQuery(url: URL, changes: Readonly<Record<string, string>>): URL {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  return changed;
}
