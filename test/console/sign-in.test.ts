// Sign-in to the console with keys, links and a provider, and the messages when sign-in fails or a
// session ends.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { Page } from "playwright-core";
import { createSignInToken, signInLink } from "../../src/auth/sign-in-token.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { openTestProvider, type TestProvider } from "../access/open-test-provider.ts";
import { addMember } from "../fixtures/signed-in.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import {
  checkLooks,
  openTestPages,
  openUnwatched,
  show,
  someLooks,
  type TestPages,
} from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let provider: TestProvider;
let db: Kysely<Tables>;
let owner: { readonly accountId: string; readonly apiKeyId: string };

before(async () => {
  provider = parts.use(await openTestProvider());
  const environment = {
    HLUST_ROLE: "api",
    HLUST_CONTACT: "adgangur@hlust.example",
    HLUST_OIDC_ISSUER: provider.issuer,
    HLUST_OIDC_CLIENT_ID: "hlust",
    HLUST_OIDC_CLIENT_SECRET: "hlust secret",
  };
  // Browsers do not treat this host name as the local machine, so they do not keep its cookies over
  // http.
  pages = parts.use(
    await openTestPages(environment, ["--host-resolver-rules=MAP hlust.example 127.0.0.1"]),
  );
  provider.register(`${pages.service.address}/console/sign-in/callback`);
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  const key = await db.selectFrom("api_key").selectAll().executeTakeFirstOrThrow();
  owner = { accountId: key.account_id, apiKeyId: key.id };
});
after(() => parts.disposeAsync());

const signedOut = { key: undefined };
const keyField = (page: Page) => page.getByLabel("API-lykill", { exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

async function sessionCookie(page: Page): Promise<string | undefined> {
  const cookies = await page.context().cookies(pages.service.address);
  return cookies.find(({ name }) => name === "__Host-hlust")?.value;
}

async function link(now = Date.now()): Promise<string> {
  return signInLink(pages.service.address, await createSignInToken(db, owner, { now: () => now }));
}

test("a key signs in with only the keyboard, at any address; a refused key stays in its field", async () => {
  await using page = await pages.open("/jobs?state=FAILED", signedOut);
  await heading(page, "Skráðu þig inn").waitFor();
  // A first visit makes no call that fails, which the browser would report.
  const errors: string[] = [];
  page.on("console", (message) => errors.push(message.text()));
  await page.reload();
  await heading(page, "Skráðu þig inn").waitFor();
  assert.deepEqual(errors, []);
  assert.equal(await page.title(), "Skráðu þig inn · Hlust");
  // All of the page is in landmarks.
  await page.getByRole("banner").getByText("Hlust", { exact: true }).waitFor();
  await page.getByRole("contentinfo").getByRole("combobox").first().waitFor();
  const contact = page.getByRole("link", { name: "adgangur@hlust.example" });
  assert.equal(await contact.getAttribute("href"), "mailto:adgangur@hlust.example");
  await page.getByText("Vantar þig aðgang? Hafðu samband:").waitFor();
  await checkLooks(page, "sign-in");
  await show(page, { size: "desktop", language: "is", theme: "light" });

  const top = async () => (await keyField(page).boundingBox())?.y;
  const before = await top();
  await keyField(page).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Límdu lykilinn hér.").waitFor();
  assert.equal(await top(), before, "messages do not move the field");
  const see = page.getByLabel("Sýna lykilinn");
  await see.check();
  assert.equal(await keyField(page).getAttribute("type"), "text");
  await see.uncheck();
  assert.equal(await keyField(page).getAttribute("type"), "password");
  await keyField(page).focus();
  await page.keyboard.type("hlust_wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Lykillinn gildir ekki.").waitFor();
  assert.equal(await keyField(page).inputValue(), "hlust_wrong");
  assert.equal(await top(), before, "messages do not move the field");
  await checkLooks(page, "sign-in-refused", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  assert.equal(await sessionCookie(page), undefined);

  // A link that is refused afterwards replaces the problem with the key.
  const old = new URL(await link(Date.now() - 600_001)).hash;
  await page.evaluate(`location.hash = ${JSON.stringify(old)}`);
  await page.getByText("hver tengill gildir einu sinni, í tíu mínútur,").waitFor();
  await page.getByText("Lykillinn gildir ekki.").waitFor({ state: "detached" });

  await keyField(page).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(` ${pages.service.key} `);
  await page.keyboard.press("Enter");
  await heading(page, "Verk").waitFor();
  assert.equal(new URL(page.url()).search, "?state=FAILED");
  assert.match((await sessionCookie(page)) ?? "", /^session_/);
});

test("a link signs in once, and its token does not remain anywhere", async () => {
  await using page = await pages.open("/nowhere");
  const before = await sessionCookie(page);
  const address = await link();
  const requested: string[] = [];
  page.on("request", (request) => {
    requested.push(`${request.url()} ${request.headers()["referer"] ?? ""}`);
  });
  // The link is opened in the current page, as from the address bar, so the document stays the
  // same.
  await page.goto(address);
  await heading(page, "Yfirlit").waitFor();
  const token = address.split("=").at(-1) ?? "";
  assert.equal(page.url(), `${pages.service.address}/console/`);
  assert.deepEqual(
    requested.filter((line) => line.includes(token)),
    [],
  );
  await until(async () => (await sessionCookie(page)) !== before);
  const answer = await fetch(`${pages.service.address}/console/settings`, {
    headers: { cookie: `__Host-hlust=${before}`, "sec-fetch-site": "same-origin" },
  });
  assert.equal(answer.status, 401, "the session that the browser had before is invalid");
  await page.reload();
  await heading(page, "Yfirlit").waitFor();
  await page.goBack();
  assert.ok(!page.url().includes(token), page.url());

  await using second = await pages.open("/", signedOut);
  await second.goto(address);
  await second.reload();
  await heading(second, "Skráðu þig inn").waitFor();
  assert.equal(second.url(), `${pages.service.address}/console/`);
});

test("a link that has been used or is older than ten minutes is refused, even while signed in", async () => {
  const used = await link();
  await using first = await pages.open("/", signedOut);
  expectProblems(first, /^401 POST \/console\/session$/);
  await first.goto(used);
  await first.reload();
  const rows = [
    [used, signedOut],
    [await link(Date.now() - 600_001), signedOut],
    [used, {}],
  ] as const;
  for (const [address, options] of rows) {
    await using page = await pages.open("/nowhere", options);
    await page.goto(address);
    await page.getByText("hver tengill gildir einu sinni, í tíu mínútur,").waitFor();
    await page.getByText("bin/hlust console").first().waitFor();
  }
});

test("a link can be retried when the network is back", async () => {
  await using page = await pages.open("/", signedOut);
  expectProblems(page, /^net::ERR_FAILED POST \/console\/session$/);
  await heading(page, "Skráðu þig inn").waitFor();
  await page.route("**/console/session", (route) => route.abort());
  const address = await link();
  await page.evaluate(`location.href = ${JSON.stringify(address)}`);
  await page.getByText("Ekki næst í þjónustuna.").waitFor();
  assert.ok(!page.url().includes("signInToken"));
  await page.unroute("**/console/session");
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await heading(page, "Yfirlit").waitFor();
});

test("each reason for a failed sign-in is explained with what to do next", async () => {
  const rows = {
    NOT_A_MEMBER: /þekkir netfangið þitt\. Biddu eiganda/,
    EMAIL_NOT_VERIFIED: /óstaðfest .* Staðfestu það/,
    PROVIDER_REFUSED: /ekki hleypt inn .* Reyndu aftur/,
    PROVIDER_AWAY: /svarar ekki\. Reyndu aftur eftir augnablik/,
    PROVIDER_FAILED: /stenst ekki\. Reyndu aftur/,
    SIGN_IN_EXPIRED: /lengri tíma en tíu mínútur.* Byrjaðu aftur/,
    TOO_MANY_REFUSED: /Of mörgum tilraunum .* Bíddu í eina mínútu/,
    HTTPS_NEEDED: /yfir http\. Opnaðu síðuna með https/,
    // Anyone can construct such an address.
    constructor: /Innskráningin tókst ekki\. Reyndu aftur/,
    "%3Cimg%20src=x%20onerror=alert(1)%3E": /Innskráningin tókst ekki/,
  };
  await using page = await pages.open("/", signedOut);
  await heading(page, "Skráðu þig inn").waitFor();
  for (const [reason, words] of Object.entries(rows)) {
    await page.goto("about:blank");
    await page.goto(`${pages.service.address}/console/#problem=${reason}`);
    assert.match(await page.getByRole("alert").innerText(), words, reason);
    assert.equal(page.url(), `${pages.service.address}/console/`);
  }
});

test("members sign in with the provider and return to the page that they opened", async () => {
  await addMember(db, owner.accountId, "OWNER", "gudrun@example.org");
  provider.person = { subject: "gudrun", email: "gudrun@example.org", emailVerified: true };
  const page = await openUnwatched(await pages.open("/", signedOut));
  await page.goto(`${pages.service.address}/console/live?from=mail&x=1`);
  await page.getByRole("link", { name: "Skrá inn með aðgangi vinnustaðarins" }).click();
  await heading(page, "Beint").waitFor();
  assert.equal(page.url(), `${pages.service.address}/console/live?from=mail&x=1`);
});

test("over http from another machine the page asks for https instead of a key", async () => {
  const page = await openUnwatched(await pages.open("/", signedOut));
  await page.goto(pages.service.address.replace("127.0.0.1", "hlust.example") + "/console/");
  await page.getByText("Opnaðu síðuna með https").waitFor();
  assert.equal(await keyField(page).count(), 0);
});

test("the page reports that the browser does not keep cookies", async () => {
  await using page = await pages.open("/", signedOut);
  await page.route("**/console/session", async (route) => {
    const headers = { ...route.request().headers(), "sec-fetch-site": "same-origin" };
    const answer = await route.fetch({ headers });
    await page.context().clearCookies();
    const { "set-cookie": _, ...kept } = answer.headers();
    await route.fulfill({ response: answer, headers: kept });
  });
  await keyField(page).fill(pages.service.key);
  await page.keyboard.press("Enter");
  await page.getByText("Vafrinn geymdi ekki vefkökuna").waitFor();
});

test("the end of a session is shown, and a user who signs in again finds the page unchanged", async () => {
  await using page = await pages.open("/keys?mine=1");
  expectProblems(page, /^401 GET \/console\//);
  await page.getByRole("button", { name: "Nýr API-lykill" }).click();
  await page.getByLabel("Nafn").fill("Fréttastofa, sjálfvirk upptaka");
  await db.deleteFrom("session").execute();
  // A node accepts the session for up to half a second more, until it reads the row again.
  const status = `fetch("/console/settings", { headers: { "x-hlust-console": "1" } }).then((answer) => answer.status)`;
  await until(async () => (await page.evaluate(status)) === 401);
  // The tab receives the notification as if from another tab.
  await page.evaluate(`new BroadcastChannel("hlust.session").postMessage("changed")`);
  await page.getByText("haltu áfram þar sem frá var horfið").waitFor();
  assert.equal(await page.title(), "Skráðu þig inn · Hlust");
  await keyField(page).fill(pages.service.key);
  await page.keyboard.press("Enter");
  await page.getByLabel("Nafn").waitFor();
  assert.equal(await page.title(), "Lyklar · Hlust");
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, "/console/keys?mine=1");
  assert.equal(await page.getByLabel("Nafn").inputValue(), "Fréttastofa, sjálfvirk upptaka");
});
