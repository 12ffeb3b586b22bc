// Keys are renamed, get limits and a new secret on the page of keys.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { noteSecret } from "../spec/secrets.ts";
import { callRest } from "../spec/service.ts";
import { checkPage, checkShift } from "./check-page.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const icelandic = { size: "desktop", language: "is", theme: "light" } as const;
let pages: TestPages;
let page: Page;
let first = "";
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  const made = await pages.service.call("POST", "/v1/apiKeys", { displayName: "Ritvél" });
  first = made.json.secret;
  noteSecret(first, "credential");
  page = await pages.open("/keys");
});
after(() => pages[Symbol.asyncDispose]());

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const row = (name: string) => page.getByRole("listitem").filter({ hasText: name });

async function statusOf(key: string): Promise<number> {
  return (await callRest(pages.service.address, key, { method: "GET", path: "/v1/caller" })).status;
}

async function takeSecret(): Promise<string> {
  await dialog().getByRole("heading", { name: "Vistaðu lykilinn núna" }).waitFor();
  const secret = (await dialog().getByLabel("API-lykill", { exact: true }).innerText()).trim();
  noteSecret(secret, "credential");
  await page.keyboard.press("Escape");
  await button("Ég hef vistað lykilinn").press("Enter");
  await dialog().waitFor({ state: "detached" });
  assert.ok(!(await page.content()).includes(secret), "the secret is shown only once");
  return secret;
}

test("a key is renamed and limited with only the keyboard", async () => {
  await button("Breyta lyklinum „Ritvél“").press("Enter");
  await dialog().waitFor();
  await until(() => page.evaluate<boolean>("document.activeElement?.value === 'Ritvél'"));
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Ritvélin á Ísafirði");
  await page.keyboard.press("Tab");
  await page.keyboard.type("þúsund");
  await page.keyboard.press("Enter");
  await dialog().getByText("Skrifaðu heila tölu, eða ekkert.").waitFor();
  await checkPage(page);
  await checkLooks(page, "keys-edit", someLooks);
  await show(page, icelandic);
  await dialog().getByLabel("Köll á mínútu").fill("1000001");
  await dialog().getByRole("button", { name: "Vista" }).press("Enter");
  await dialog().getByText("Þetta þarf að vera heil tala frá 0 til 1.000.000.").waitFor();
  await dialog().getByLabel("Köll á mínútu").fill("600");
  await dialog().getByLabel("Verk í einu").fill("3");
  await page.keyboard.press("Enter");
  await row("Ritvélin á Ísafirði").getByText("600 köll á mínútu").waitFor();
  await row("Ritvélin á Ísafirði").getByText("3 verk í einu").waitFor();
  await page.locator(".toast").getByText("„Ritvélin á Ísafirði“ hefur verið vistaður.").waitFor();
  await button("Taka aftur").press("Enter");
  await row("Ritvélin á Ísafirði").waitFor({ state: "detached" });
  await row("Ritvél").getByText("3 verk í einu").waitFor({ state: "detached" });
  await button("Breyta lyklinum „Ritvél“").click();
  await dialog().getByLabel("Nafn").fill("Ritvélin á Ísafirði");
  await dialog().getByRole("button", { name: "Vista" }).click();
  await button("Breyta lyklinum „Ritvélin á Ísafirði“").click();
  await dialog().getByLabel("Köll á mínútu").fill("");
  await dialog().getByLabel("Verk í einu").fill("");
  await dialog().getByRole("button", { name: "Vista" }).click();
  await row("Ritvélin á Ísafirði").getByText("köll á mínútu").waitFor({ state: "detached" });
  const { json } = await pages.service.call("GET", "/v1/apiKeys");
  const [key] = json.apiKeys;
  assert.deepEqual([key.displayName, key.limits], ["Ritvélin á Ísafirði", {}]);
});

test("a new key gets the limits that were chosen", async () => {
  await button("Nýr API-lykill").click();
  await dialog().getByLabel("Nafn").fill("Með mörkum");
  await dialog().getByLabel("Streymi í einu").fill("1,5");
  await dialog().getByRole("button", { name: "Búa til lykil" }).click();
  await dialog().getByText("Skrifaðu heila tölu, eða ekkert.").waitFor();
  await dialog().getByLabel("Streymi í einu").fill("2");
  await dialog().getByRole("button", { name: "Búa til lykil" }).click();
  await takeSecret();
  await row("Með mörkum").getByText("2 streymi í einu").waitFor();
  const { json } = await pages.service.call("GET", "/v1/apiKeys");
  assert.deepEqual(json.apiKeys[0].limits, { concurrentStreams: 2 });
  await pages.service.call("DELETE", `/v1/${json.apiKeys[0].name}`);
});

test("a key is rotated, and both secrets are valid until the chosen time", async () => {
  await button("Endurnýja lykilinn „Ritvélin á Ísafirði“").press("Enter");
  const end = dialog().getByLabel("Hvenær hættir fyrra leyndarmálið að gilda?");
  assert.equal(await end.inputValue(), "86400");
  await end.selectOption("date");
  await dialog().getByRole("button", { name: "Endurnýja" }).click();
  await dialog().getByText("Veldu dag: í dag eða síðar, innan 90 daga.").waitFor();
  await checkPage(page);
  await checkLooks(page, "keys-rotate", someLooks);
  await show(page, icelandic);
  await end.selectOption("eftir viku");
  await dialog().getByRole("button", { name: "Endurnýja" }).click();
  const second = await takeSecret();
  await row("Ritvélin á Ísafirði").getByText("fyrra leyndarmál gildir til").waitFor();
  assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 200]);

  await button("Endurnýja lykilinn „Ritvélin á Ísafirði“").click();
  await end.selectOption("strax");
  await dialog().getByText("komast ekki lengur inn, innan sekúndu").waitFor();
  await dialog().getByRole("button", { name: "Endurnýja" }).click();
  const third = await takeSecret();
  await row("Ritvélin á Ísafirði").getByText("fyrra leyndarmál gildir").waitFor({
    state: "detached",
  });
  await until(async () => (await statusOf(first)) === 401);
  await until(async () => (await statusOf(second)) === 401);
  assert.equal(await statusOf(third), 200);
});

test("a signing key is renamed, and has no secret to rotate", async () => {
  const publicKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----`;
  const facts = { displayName: "Fréttir", publicKey };
  assert.equal((await pages.service.call("POST", "/v1/clientKeys", facts)).status, 200);
  await page.reload();
  await row("Fréttir").waitFor();
  assert.equal(await button("Endurnýja lykilinn „Fréttir“").count(), 0);
  await button("Breyta lyklinum „Fréttir“").click();
  await dialog().getByLabel("Nafn").fill("Fréttastofan");
  await page.keyboard.press("Enter");
  await row("Fréttastofan").waitFor();
});

test("a key that was revoked meanwhile says so, and the audit log has each change", async () => {
  await page.reload();
  const names = (await pages.service.call("GET", "/v1/apiKeys")).json.apiKeys;
  await button("Breyta lyklinum „Ritvélin á Ísafirði“").click();
  await pages.service.call("DELETE", `/v1/${names[0].name}`);
  await dialog().getByRole("button", { name: "Vista" }).click();
  await dialog().getByRole("alert").getByText("Lykillinn er ekki lengur til.").waitFor();
  await dialog().getByRole("button", { name: "Hætta við" }).click();
  await page.goto(`${pages.service.address}/console/account`);
  const log = page.getByRole("list", { name: "Dagbók" });
  await log.getByText("First key endurnýjaði API-lykilinn „Ritvélin á Ísafirði“").first().waitFor();
  await log.getByText("First key breytti undirritunarlykli „Fréttastofan“").waitFor();
});

test("the page of keys is accessible, fits every window and does not shift", async () => {
  await page.goto(`${pages.service.address}/console/keys`);
  await row("Fréttastofan").waitFor();
  await checkPage(page);
  await checkShift(page, async () => await row("Fréttastofan").waitFor());
});
