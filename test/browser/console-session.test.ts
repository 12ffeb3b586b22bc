// The console's cookie in a real browser: the addresses at which it is kept, the pages that can use
// it, and sign-in with a provider at another site.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../fixtures/open-browser.ts";
import { openTestProvider, type TestProvider } from "../access/open-test-provider.ts";
import { openTestService, type TestService } from "../spec/service.ts";

const opened = new AsyncDisposableStack();
let service: TestService;
let provider: TestProvider;
let browser: Browser;
let port: string;

before(async () => {
  provider = opened.use(await openTestProvider("localhost"));
  service = opened.use(
    await openTestService({
      HLUST_ENGINE: "scripted",
      HLUST_ROLE: "api",
      HLUST_OIDC_ISSUER: provider.issuer,
      HLUST_OIDC_CLIENT_ID: "hlust",
      HLUST_OIDC_CLIENT_SECRET: "hlust secret",
    }),
  );
  provider.register(`${service.address}/console/sign-in/callback`);
  ({ port } = new URL(service.address));
  browser = await openBrowser(["--host-resolver-rules=MAP hlust.test 127.0.0.1"]);
  opened.defer(() => browser.close());
});
after(() => opened.disposeAsync());

/** Opens a page of the service with its own cookies. */
async function openPage(host: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`http://${host}:${port}/console/`);
  return page;
}

/** Makes a call from a page of `owner`. Returns the status and the body. */
async function call(
  page: Page,
  method: string,
  url: string,
  body?: object,
  owner = "",
): Promise<unknown[]> {
  const init = {
    method,
    headers: {
      "x-hlust-console": "1",
      "content-type": "application/json",
      ...(owner !== "" && { "x-hlust-console-for": owner }),
    },
    ...(body && { body: JSON.stringify(body) }),
  };
  const script = `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)})
    .then(async (answer) => [answer.status, await answer.text()], (error) => [0, String(error)])`;
  return await page.evaluate<unknown[]>(script);
}

const account = "/console/api/v1/account";
const statusOf = async (...parts: Parameters<typeof call>) => (await call(...parts))[0];

for (const host of ["127.0.0.1", "localhost"]) {
  test(`a browser stays signed in at http://${host}, and scripts cannot read the cookie`, async () => {
    const page = await openPage(host);
    assert.equal(await statusOf(page, "GET", account), 401);
    assert.equal(await statusOf(page, "POST", "/console/session", { apiKey: service.key }), 200);
    assert.equal(await page.evaluate("document.cookie"), "");
    assert.equal(await statusOf(page, "GET", account), 200);
    const [, session] = await call(page, "GET", "/console/session");
    const { account: own, actor } = JSON.parse(String(session));
    const owner = `${own.name} ${actor}`;
    assert.equal(await statusOf(page, "PATCH", account, { displayName: "Nafn" }, owner), 200);
    assert.equal(await statusOf(page, "GET", "/v1/account"), 401);

    // Another port is a different origin but the same site, so the browser sends the cookie.
    const other = await page.context().newPage();
    await other.goto(`${provider.issuer.replace("localhost", host)}/nothing`);
    const url = `http://${host}:${port}`;
    assert.equal(await statusOf(other, "GET", url + account), 0);
    const [response] = await Promise.all([
      other.waitForResponse(url + account),
      other.evaluate(
        `fetch("${url + account}", {mode: "no-cors", credentials: "include"}).then(() => 0, () => 0)`,
      ),
    ]);
    assert.equal(response.status(), 403);

    await page.evaluate(`localStorage.setItem("draft", "1")`);
    assert.equal(await statusOf(page, "DELETE", "/console/session"), 200);
    assert.equal(await page.evaluate(`localStorage.getItem("draft")`), null);
    assert.equal(await statusOf(page, "GET", account), 401);
    assert.deepEqual(await page.context().cookies(), []);
    await page.context().close();
  });
}

test("sign-in over http on another host is refused, because browsers would not keep the cookie", async () => {
  const page = await openPage("hlust.test");
  const [status, body] = await call(page, "POST", "/console/session", { apiKey: service.key });
  assert.equal(status, 400);
  assert.match(String(body), /HTTPS_NEEDED/);
  await page.context().close();
});

test("users sign in with a provider at another site, from a link and from a typed address", async () => {
  provider.person = { subject: "anna", email: "anna@example.org", emailVerified: true };
  await service.call("POST", "/v1/members", { email: "anna@example.org", role: "OWNER" });
  const page = await openPage("127.0.0.1");
  await page.evaluate(`location.href = "/console/sign-in?to=/console/a"`);
  await page.waitForURL(`${service.address}/console/a`);
  assert.equal(await statusOf(page, "GET", account), 200);
  const cookies = await page.context().cookies(service.address);
  assert.deepEqual(
    cookies.map(({ name, httpOnly, secure, sameSite }) => [name, httpOnly, secure, sameSite]),
    [["__Host-hlust", true, true, "Strict"]],
  );
  await page.goto(`${service.address}/console/sign-in`);
  assert.equal(page.url(), `${service.address}/console/`);
  assert.equal(await statusOf(page, "GET", account), 200);
  const { json } = await service.call("GET", "/v1/sessions");
  const ofMember = json.sessions.filter(({ actor }: { actor: string }) =>
    actor.startsWith("members"),
  );
  assert.equal(ofMember.length, 1, "the first session has ended");
  await page.context().close();
});
