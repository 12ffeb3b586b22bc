// The pages of webhooks: they are created, tested, edited, disabled and deleted; secrets are shown
// once; deliveries show the receiver's answers and are sent again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { openReceiver, signedBy } from "../fixtures/webhooks-fixture.ts";
import { noteSecret } from "../spec/secrets.ts";
import { checkPage, checkShift } from "./check-page.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
let page: Page;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
/** The status with which the receiver answers. */
let status = 204;
before(async () => {
  receiver = await openReceiver((response) => response.writeHead(status).end());
  pages = await openTestPages();
  page = await pages.open("/webhooks");
});
after(async () => {
  await pages[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const deliveries = () => page.getByRole("list", { name: "Sendingar" }).getByRole("listitem");

/** Reads the secret that a dialog shows, and closes the dialog. */
async function takeSecret(): Promise<string> {
  await dialog().getByRole("heading", { name: "Vistaðu leyndarmálið núna" }).waitFor();
  const secret = (await dialog().getByLabel("Leyndarmál", { exact: true }).innerText()).trim();
  noteSecret(secret, "credential");
  // The dialog must not close by accident.
  await page.keyboard.press("Escape");
  await dialog().getByText(secret, { exact: true }).waitFor();
  await button("Ég hef vistað leyndarmálið").click();
  await dialog().waitFor({ state: "detached" });
  assert.ok(!(await page.content()).includes(secret), "the secret is shown only once");
  return secret;
}

const icelandic = { size: "desktop", language: "is", theme: "light" } as const;
let secret = "";

test("a webhook is created with only the keyboard, and its secret signs the test", async () => {
  await page.getByText("Enginn vefkrókur enn").waitFor();
  await checkPage(page);
  await button("Nýr vefkrókur").press("Enter");
  await dialog().waitFor();
  await until(() => page.evaluate<boolean>("document.activeElement?.type === 'url'"));
  await page.keyboard.press("Enter");
  await dialog().getByText("Skrifaðu slóð.").waitFor();
  await page.keyboard.type("ftp://example.is");
  await page.keyboard.press("Enter");
  await dialog().getByText("Slóðin þarf að byrja á https:// eða http://.").waitFor();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(receiver.url);
  await page.keyboard.press("Tab");
  await page.keyboard.type("Ritvél & <b>");
  await page.keyboard.press("Enter");
  secret = await takeSecret();
  await page.getByRole("link", { name: "Ritvél & <b>" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Ritvél & <b>" }).waitFor();
  await page.getByText("Ekkert hefur verið sent enn.").waitFor();
  await until(() => page.evaluate<boolean>("document.activeElement?.tagName === 'H1'"));
  await button("Senda prófun").press("Enter");
  await page.locator(".toast").getByText("Prófun er á leiðinni.").waitFor();
  await deliveries().getByText("Afhent").waitFor();
  await deliveries().getByText("svar 204").waitFor();
  const [message] = receiver.received;
  assert.ok(message);
  assert.deepEqual(signedBy(secret, message), [true]);
  assert.equal(JSON.parse(message.body).type, "webhook.test");
});

test("a failed delivery shows the answer and the attempts, and is sent again", async () => {
  status = 503;
  await button("Senda prófun").click();
  const newest = deliveries().first();
  await newest.getByText("svarið var 503 Service Unavailable").waitFor();
  assert.match(await newest.innerText(), /Prófun · Bíður.*\d+ tilraun.*næst reynt/s);
  const failing = receiver.received.at(-1)?.id;
  status = 200;
  await newest.getByRole("button", { name: /Senda aftur/ }).click();
  await page.locator(".toast").getByText("Skilaboðin eru send aftur.").waitFor();
  await newest.getByText("Afhent").waitFor();
  assert.equal(receiver.received.at(-1)?.id, failing, "the same message is sent again");
  assert.equal(await deliveries().count(), 2);
});

test("a new secret signs at once, and the previous one still signs", async () => {
  await button("Nýtt leyndarmál").click();
  await dialog().getByRole("button", { name: "Nýtt leyndarmál" }).click();
  const next = await takeSecret();
  await page.getByText("fyrra leyndarmál undirritar líka þangað til").waitFor();
  await button("Senda prófun").click();
  await until(async () => (await deliveries().count()) === 3);
  await until(async () => (await deliveries().getByText("Afhent").count()) === 3);
  const message = receiver.received.at(-1);
  assert.ok(message);
  assert.deepEqual(signedBy(next, message), [true, false]);
  assert.deepEqual(signedBy(secret, message), [false, true]);
  await button("Nýtt leyndarmál").click();
  await dialog().getByText("hættir strax að gilda").waitFor();
  await dialog().getByRole("button", { name: "Hætta við" }).click();
});

test("a webhook is edited and disabled, and then sends nothing until it is enabled", async () => {
  await button("Breyta").click();
  await dialog().getByLabel("Nafn").fill("");
  await dialog().getByLabel("Aðeins þessu:").check();
  await dialog().getByRole("button", { name: "Vista" }).click();
  await dialog().getByText("Veldu að minnsta kosti eitt.").waitFor();
  await checkLooks(page, "webhook-edit", someLooks);
  await show(page, icelandic);
  await dialog().getByRole("checkbox", { name: "verk mistókst" }).check();
  await dialog().getByRole("button", { name: "Vista" }).click();
  await dialog().waitFor({ state: "detached" });
  const { host } = new URL(receiver.url);
  await page.getByRole("heading", { level: 1, name: host }).waitFor();
  const { json } = await pages.service.call("GET", "/v1/webhooks");
  assert.deepEqual(json.webhooks[0].eventTypes, ["transcriptjob.failed"]);
  await button("Taka aftur").click();
  await page.getByRole("heading", { level: 1, name: "Ritvél & <b>" }).waitFor();
  const again = await pages.service.call("GET", "/v1/webhooks");
  assert.deepEqual(again.json.webhooks[0].eventTypes ?? [], []);
  await button("Gera óvirkan").click();
  await page.getByText("Vefkrókurinn er óvirkur og sendir ekkert.").waitFor();
  assert.ok(await button("Senda prófun").isDisabled());
  await button("Taka aftur").click();
  await page.getByText("Vefkrókurinn er óvirkur og sendir ekkert.").waitFor({ state: "detached" });
});

test("a webhook that the service has disabled says why", async () => {
  status = 410;
  await button("Senda prófun").click();
  await deliveries().first().getByText("Mistókst").waitFor();
  await page.reload();
  await page.getByText("Þjónustan gerði hann óvirkan: svarið var 410 Gone.").waitFor();
  status = 204;
});

test("older deliveries are shown on request, and a page that cannot be loaded says so", async () => {
  await button("Gera virkan").click();
  await button("Gera óvirkan").waitFor();
  const { json } = await pages.service.call("GET", "/v1/webhooks");
  const { name } = json.webhooks[0];
  for (let at = 0; at < 17; at += 1) {
    const sent = await pages.service.call("POST", `/v1/${name}:test`, {});
    assert.equal(sent.status, 200);
    await until(async () => receiver.received.at(-1)?.id === sent.json.name.split("/").at(-1));
  }
  await page.reload();
  await deliveries().first().waitFor();
  assert.equal(await deliveries().count(), 20);
  await button("Sýna eldri sendingar").press("Enter");
  await until(async () => (await deliveries().count()) === 21);
  const refused = { status: 403, json: { message: "refused" } };
  await page.route("**/console/api/v1/webhooks/**", (route) => route.fulfill(refused));
  await page.reload();
  await page.getByRole("alert").getByText("Þú hefur ekki leyfi til þess.").waitFor();
  await checkPage(page);
  await page.unroute("**/console/api/v1/webhooks/**");
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await deliveries().first().waitFor();
});

test("the pages are accessible, fit every window and do not shift", async () => {
  const shown = async () => await deliveries().first().waitFor();
  await checkShift(page, shown);
  await checkPage(page);
  await checkLooks(page, "webhook");
  await show(page, icelandic);
  await page.getByRole("link", { name: "Allir vefkrókar" }).click();
  const row = page.getByRole("list", { name: "Vefkrókar" }).getByRole("listitem");
  await row.first().waitFor();
  await checkShift(page, async () => await row.first().waitFor());
  await checkPage(page);
  await checkLooks(page, "webhooks");
  await show(page, icelandic);
});

test("a webhook is deleted, and its address then says that it no longer exists", async () => {
  await page.getByRole("list", { name: "Vefkrókar" }).getByRole("link").click();
  await deliveries().first().waitFor();
  const address = page.url();
  await button("Eyða").click();
  await dialog().getByRole("button", { name: "Eyða", exact: true }).click();
  await page.locator(".toast").getByText("hefur verið eytt.").waitFor();
  await page.getByText("Enginn vefkrókur enn").waitFor();
  assert.equal(new URL(page.url()).pathname, "/console/webhooks");
  await page.goto(address);
  await page.getByText("Vefkrókurinn er ekki lengur til.").waitFor();
});

test("users who cannot manage webhooks see who can", async () => {
  const scopes = ["transcripts.read"];
  const reader = await pages.service.call("POST", "/v1/apiKeys", { scopes });
  await using viewer = await pages.open("/webhooks", { key: reader.json.secret });
  await viewer.getByRole("heading", { name: "Vefkrókar eru í höndum eigenda" }).waitFor();
  await checkPage(viewer);
  assert.equal(await viewer.getByRole("link", { name: "Vefkrókar" }).count(), 0);
});
