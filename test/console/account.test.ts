// The account page: inviting, changing and removing members, ending sessions, and the audit log.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Page } from "playwright-core";
import { actText } from "../../src/console/text/acts.ts";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";

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
  await until(async () => {
    const { json } = await pages.service.call("GET", "/v1/members");
    return json.members[0].role === "OWNER";
  });
  await button("Fjarlægja: asa@example.is").click();
  await dialog().getByRole("button", { name: "Hætta við" }).click();
  await button("Fjarlægja: asa@example.is").press("Enter");
  await dialog().getByRole("button", { name: "Fjarlægja" }).press("Enter");
  await button("Fjarlægja: asa@example.is").waitFor({ state: "detached" });
  assert.equal(await people().count(), 1);
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
  await log().getByText("First key bauð asa@example.is").waitFor();
  await button("Sýna eldri").waitFor({ state: "detached" });
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
