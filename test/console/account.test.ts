// The account page: inviting, changing and removing members, ending sessions, and the audit log.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import type { Page } from "playwright-core";
import { actText } from "../../src/console/text/acts.ts";
import { callRest } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { openMailReceiver } from "../fixtures/mail-receiver.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
let page: Page;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  page = await pages.open("/");
});
after(() => pages[Symbol.asyncDispose]());
beforeEach(async () => {
  await page.goto(`${pages.service.address}/console/account`);
});

function button(name: string) {
  return page.getByRole("button", { name, exact: true });
}

function dialog() {
  return page.getByRole("dialog");
}

const people = () => page.getByRole("list", { name: "Fólk" }).getByRole("listitem");
const log = () => page.getByRole("list", { name: "Dagbók" }).getByRole("listitem");

async function invite(email: string, name: string, role: string): Promise<void> {
  await button("Bjóða notanda").first().click();
  await dialog().getByLabel("Netfang").fill(email);
  await dialog().getByLabel("Nafn").fill(name);
  await dialog().getByLabel("Hlutverk").selectOption({ label: role });
  await dialog().getByText("Hér er engin innskráningarþjónusta").waitFor();
  await dialog().getByRole("button", { name: "Bjóða notanda" }).click();
  // A link is offered next.
  await dialog().getByRole("button", { name: "Búa til tengil" }).waitFor();
  await dialog().getByRole("button", { name: "Hætta við" }).click();
  await dialog().waitFor({ state: "detached" });
}

test("members are invited, get another role and are removed, but the last owner stays", async () => {
  expectProblems(page, /^400 (POST|PATCH) \/console\/api\/v1\/members/);
  await page.getByText("Engum hefur verið boðið enn.").waitFor();
  await button("Bjóða notanda").press("Enter");
  await until(() => page.evaluate<boolean>("document.activeElement?.type === 'email'"));
  await page.keyboard.press("Enter");
  await dialog().getByText("Skrifaðu netfang.").waitFor();
  await page.keyboard.type("ekki netfang");
  await page.keyboard.press("Enter");
  // What the service refuses is said in the language of the page.
  await dialog().getByText("Þetta er ekki netfang.").waitFor();
  await page.keyboard.press("Escape");
  await invite("thordur@example.is", "Þórður Ægisson <b>", "Eigandi: allt");
  await invite("asa@example.is", "", "Lesandi: má lesa");
  assert.equal(await people().count(), 2);
  const [asa, thordur] = [people().first(), people().last()];
  assert.match(await thordur.innerText(), /Þórður Ægisson <b>\s+thordur@example\.is\s+boðið /);
  await thordur
    .getByLabel("Hlutverk: Þórður Ægisson <b>")
    .selectOption({ label: "Lesandi: má lesa" });
  // Nothing changes before the user has confirmed it.
  await dialog().getByText("Nýtt hlutverk: Lesandi: má lesa.").waitFor();
  await dialog().getByRole("button", { name: "Breyta hlutverki" }).click();
  await dialog().getByRole("alert").getByText("Þetta er eini eigandinn").waitFor();
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  const roleOfAsa = asa.getByLabel("Hlutverk: asa@example.is");
  await roleOfAsa.selectOption({ label: "Eigandi: allt" });
  await dialog().getByRole("button", { name: "Hætta við" }).press("Enter");
  await dialog().waitFor({ state: "detached" });
  assert.equal(await roleOfAsa.inputValue(), "VIEWER");
  await roleOfAsa.selectOption({ label: "Eigandi: allt" });
  await dialog().getByRole("button", { name: "Breyta hlutverki" }).click();
  // A message says so to those who see, too.
  await page.locator(".toast").getByText("Hlutverkinu hefur verið breytt.").waitFor();
  const roleIs = async (role: string) =>
    await until(async () => {
      const { json } = await pages.service.call("GET", "/v1/members");
      return json.members[0].role === role;
    });
  await roleIs("OWNER");
  await button("Taka aftur").click();
  await roleIs("VIEWER");
  await until(async () => (await roleOfAsa.inputValue()) === "VIEWER");
  await roleOfAsa.selectOption({ label: "Eigandi: allt" });
  await dialog().getByRole("button", { name: "Breyta hlutverki" }).click();
  await roleIs("OWNER");
  await button("Fjarlægja: asa@example.is").click();
  await dialog().getByRole("button", { name: "Hætta við" }).click();
  await button("Fjarlægja: asa@example.is").press("Enter");
  await dialog().getByRole("button", { name: "Fjarlægja" }).press("Enter");
  await button("Fjarlægja: asa@example.is").waitFor({ state: "detached" });
  assert.equal(await people().count(), 1);
  await page.locator(".toast").getByText("Ekki lengur á reikningnum: asa@example.is").waitFor();
  await checkLooks(page, "account-undo", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await button("Taka aftur").press("Enter");
  await page.locator(".toast").getByText("Það var tekið aftur.").waitFor();
  await button("Fjarlægja: asa@example.is").press("Enter");
  await dialog().getByRole("button", { name: "Fjarlægja" }).press("Enter");
  await button("Fjarlægja: asa@example.is").waitFor({ state: "detached" });
  await button("Fjarlægja: Þórður Ægisson <b>").click();
  await dialog().getByRole("button", { name: "Fjarlægja" }).click();
  await page.getByText("Engum hefur verið boðið enn.").waitFor();
});

test("an invited member signs in once with the link that an owner has copied", async () => {
  await invite("gudrun@example.is", "Guðrún", "Þátttakandi: má lesa, breyta og skrifa upp");
  await page.getByRole("button", { name: "Tengill: Guðrún" }).click();
  await dialog().getByRole("button", { name: "Búa til tengil" }).click();
  const code = dialog().locator("pre");
  await code.waitFor();
  const link = await code.innerText();
  await checkLooks(page, "account-link", [{ size: "phone", language: "is", theme: "dark" }]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await dialog().getByRole("button", { name: "Loka" }).click();
  await using guest = await pages.open("/", { key: undefined });
  await guest.getByLabel("API-lykill", { exact: true }).waitFor();
  const token = new URL(link).hash;
  assert.match(token, /^#signInToken=hlust_signin_/);
  await guest.goto("about:blank");
  await guest.goto(`${pages.service.address}/console/${token}`);
  await guest.getByRole("link", { name: "Guðrún" }).waitFor();
  await log().getByText("First key bjó til innskráningartengil").waitFor();
  // The guest's page still polls when its session has ended.
  expectProblems(guest, /^401 GET \/console\//);
  await button("Fjarlægja: Guðrún").press("Enter");
  await dialog().getByRole("button", { name: "Fjarlægja" }).press("Enter");
  await button("Fjarlægja: Guðrún").waitFor({ state: "detached" });
});

test("a session is ended from another session; a viewer sees only their own sessions", async () => {
  const { json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Ása á Akureyri",
    scopes: ["transcripts.read"],
  });
  await using other = await pages.open("/account", { key: json.secret });
  const own = other.getByRole("list", { name: "Innskráningar" }).getByRole("listitem");
  await own.getByText("þessi innskráning").waitFor();
  assert.equal(await own.count(), 1);
  assert.equal(await other.getByRole("heading", { level: 2 }).count(), 1);
  await page.reload();
  await button("Ljúka innskráningu: Ása á Akureyri").press("Enter");
  await button("Ljúka innskráningu: Ása á Akureyri").waitFor({ state: "detached" });
  await until(async () => {
    await other.reload();
    await other.getByLabel("API-lykill").waitFor({ timeout: 3_000 });
    return true;
  });
});

test("the audit log shows who did what, back to its first entry", async () => {
  await log().getByText("First key bauð thordur@example.is").waitFor();
  await log().getByText("First key bjó til API-lykilinn „Ása á Akureyri“").waitFor();
  const exact = await log().first().locator("time").getAttribute("title");
  assert.match(exact ?? "", /^\d+\. \p{L}+ \d{4} \d\d:\d\d:\d\d$/u);
  const { json } = await pages.service.call("POST", "/v1alpha1/transcripts", draftOf("Eytt"));
  assert.equal((await pages.service.call("DELETE", `/v1alpha1/${json.name}`)).status, 200);
  await page.reload();
  const deleted = log().filter({ hasText: "First key eyddi uppskrift" }).first();
  assert.ok((await deleted.innerText()).includes(`: ${json.name.slice(-8)}`));
  for (let at = 0; at < 50; at += 1) {
    const made = await pages.service.call("POST", "/v1/apiKeys", { displayName: `Lykill ${at}` });
    assert.equal(made.status, 200);
  }
  await page.reload();
  await log().getByText("„Lykill 49“").waitFor();
  assert.equal(await log().count(), 50);
  await button("Sýna eldri").press("Enter");
  await log().getByText("First key bauð asa@example.is").first().waitFor();
  await button("Sýna eldri").waitFor({ state: "detached" });
});

test("the audit log is filtered by action and actor, and downloaded as it is filtered", async () => {
  const wanted = { displayName: "=Annar", scopes: ["account"] };
  const other = await pages.service.call("POST", "/v1/apiKeys", wanted);
  const answer = await callRest(pages.service.address, other.json.secret, {
    method: "POST",
    path: "/v1/apiKeys",
    body: { displayName: "Dótturlykill", scopes: ["account"] },
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.json));
  await page.reload();
  await page.getByLabel("Hvað", { exact: true }).selectOption("Uppskriftir");
  await log().filter({ hasText: "eyddi uppskrift" }).first().waitFor();
  await until(async () => {
    const texts = await log().allInnerTexts();
    return texts.length > 0 && texts.every((text) => text.includes("uppskrift"));
  });
  await page.getByLabel("Hver", { exact: true }).selectOption("=Annar");
  await page.getByText("Engar færslur.").waitFor();
  await page.getByLabel("Hvað", { exact: true }).selectOption("API-lyklar");
  await log().getByText("=Annar bjó til API-lykilinn „Dótturlykill“").waitFor();
  assert.equal(await log().count(), 1);
  const downloaded = page.waitForEvent("download");
  await button("Sækja sem CSV").press("Enter");
  const download = await downloaded;
  assert.equal(download.suggestedFilename(), "hlust-audit.csv");
  const [head, line, ...rest] = readFileSync(await download.path(), "utf8").split("\r\n");
  assert.match(head ?? "", /^time,actor,actor_name,action,resource,outcome,/);
  // A spreadsheet makes no formula of the name.
  const { name } = other.json.apiKey;
  assert.match(line ?? "", new RegExp(`^[\\dT:.-]+Z,${name},'=Annar,api_key\\.create,apiKeys/`));
  assert.match(line ?? "", /,OK,[^,]+,[^,]+,"\{.*""displayName"":""Dótturlykill""/);
  assert.deepEqual(rest, [""]);
  // What a key has done can be found after the key was revoked, by the name that it had.
  assert.equal((await pages.service.call("DELETE", `/v1/${name}`)).status, 200);
  await page.reload();
  await page.getByLabel("Hver", { exact: true }).selectOption("=Annar");
  await log().getByText("=Annar bjó til API-lykilinn „Dótturlykill“").waitFor();
  assert.equal(await log().count(), 1);
  // Also when no entry that is loaded is its own or has its name.
  for (let at = 0; at < 50; at += 1) {
    const body = { displayName: `Nýr lykill ${at}` };
    assert.equal((await pages.service.call("POST", "/v1/apiKeys", body)).status, 200);
  }
  await page.reload();
  await log().nth(49).waitFor();
  const nameless = `API-lykill ${name.slice(-8)}`;
  await page.getByLabel("Hver", { exact: true }).selectOption(nameless);
  await log().getByText(`${nameless} bjó til API-lykilinn „Dótturlykill“`).waitFor();
  assert.equal(await log().count(), 1);
});

test("the account page is accessible and fits the screen in every look", async () => {
  await invite("olof@example.is", "Ólöf Þöll", "Þátttakandi: má lesa, breyta og skrifa upp");
  await log().first().waitFor();
  await people().first().waitFor();
  await checkLooks(page, "account");
});

test("actText() returns the name of an unknown act", () => {
  assert.deepEqual(actText("api_key.create", {}), {
    is: "bjó til API-lykilinn",
    en: "created the API key",
  });
  assert.deepEqual(actText("toString", {}), { is: "toString", en: "toString" });
});

// Those with their own pages come last: closing them closes those of the other tests, if they share
// a browser.
test("an invitation is sent by mail, with what became of it, and is sent again", async () => {
  let isRefused = true;
  await using receiver = await openMailReceiver({ refuses: () => (isRefused ? 550 : undefined) });
  await using mailing = await openTestPages({
    HLUST_SMTP_URL: `smtp://127.0.0.1:${receiver.port}?tls=off`,
    HLUST_MAIL_FROM: "Hlust <hlust@example.org>",
    HLUST_PUBLIC_URL: "https://hlust.example",
    HLUST_ENGINE: "scripted",
  });
  await using mailed = await mailing.open("/account");
  const inDialog = mailed.getByRole("dialog");
  await mailed.getByRole("button", { name: "Bjóða notanda" }).click();
  await inDialog.getByText("Boð með tengli er sent á netfangið.").waitFor();
  await inDialog.getByLabel("Netfang").fill("ragna@example.is");
  await inDialog.getByRole("button", { name: "Bjóða notanda" }).click();
  await mailed.locator(".toast").getByText("Pósturinn er á leiðinni.").waitFor();
  const row = mailed.getByRole("list", { name: "Fólk" }).getByRole("listitem");
  await row
    .getByText("póstur fór ekki: póstþjónninn tekur ekki við pósti á þetta netfang")
    .waitFor();
  await row.getByText("550 5.1.1 no such user here").waitFor();
  await mailed.getByText("First key sendi boð í pósti á ragna@example.is").waitFor();
  await checkLooks(mailed, "account-mail", [
    { size: "phone", language: "en", theme: "light" },
    { size: "desktop", language: "is", theme: "dark" },
  ]);
  isRefused = false;
  await mailed.getByRole("button", { name: "Tengill: ragna@example.is" }).click();
  // The link can still be created here.
  await inDialog.getByRole("button", { name: "Búa til tengil" }).waitFor();
  await inDialog.getByText("Eldri tenglar falla úr gildi, líka þeir sem voru sendir").waitFor();
  await inDialog.getByRole("button", { name: "Senda aftur í pósti" }).press("Enter");
  await inDialog.waitFor({ state: "detached" });
  await row.getByText("póstur sendur").waitFor();
  assert.match(receiver.received[0]?.parts.get("text/plain") ?? "", /\/console\/#signInToken=/);
  // At most five a day go to an address: the dialog says so, and a link can be made.
  const [{ name }] = (await mailing.service.call("GET", "/v1/members")).json.members;
  for (let count = 2; count < 5; count += 1) {
    assert.equal((await mailing.service.call("POST", `/v1/${name}:sendInvitation`)).status, 200);
  }
  expectProblems(mailed, /^429 POST .*:sendInvitation$/);
  await mailed.getByRole("button", { name: "Tengill: ragna@example.is" }).click();
  await inDialog.getByRole("button", { name: "Senda aftur í pósti" }).press("Enter");
  await inDialog
    .getByRole("alert")
    .getByText("Póstur hefur verið sendur fimm sinnum á þetta netfang")
    .waitFor();
  await inDialog.getByRole("button", { name: "Búa til tengil" }).press("Enter");
  await inDialog.locator("pre").getByText("https://hlust.example/console/#signIn").waitFor();
});

test("with a provider, the texts say that the mail has the address of the console and no link", async () => {
  await using receiver = await openMailReceiver();
  await using mailing = await openTestPages({
    HLUST_SMTP_URL: `smtp://127.0.0.1:${receiver.port}?tls=off`,
    HLUST_MAIL_FROM: "Hlust <hlust@example.org>",
    HLUST_PUBLIC_URL: "https://hlust.example",
    HLUST_OIDC_ISSUER: "https://127.0.0.1:9",
    HLUST_OIDC_CLIENT_ID: "hlust",
    HLUST_OIDC_CLIENT_SECRET: "hlust secret",
  });
  await using mailed = await mailing.open("/account");
  const inDialog = mailed.getByRole("dialog");
  await mailed.getByRole("button", { name: "Bjóða notanda" }).click();
  await inDialog.getByText("Boð með slóð stjórnborðsins er sent á netfangið.").waitFor();
  await inDialog.getByLabel("Netfang").fill("ragna@example.is");
  await inDialog.getByRole("button", { name: "Bjóða notanda" }).click();
  await mailed.getByRole("list", { name: "Fólk" }).getByText("póstur sendur").waitFor();
  const text = receiver.received[0]?.parts.get("text/plain") ?? "";
  assert.match(text, /https:\/\/hlust\.example\/console\/$/m);
  assert.doesNotMatch(text, /signInToken|einu sinni/);
  await mailed.getByRole("button", { name: "Tengill: ragna@example.is" }).click();
  await inDialog.getByText("Í pósti er slóð stjórnborðsins").waitFor();
  assert.equal(await inDialog.getByText("Sendu hann í pósti").count(), 0);
});
