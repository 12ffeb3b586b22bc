// Keys are created, shown once, used and revoked. The private key of a client key leaves the
// browser only in a file that the user saves.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { noteSecret } from "../spec/secrets.ts";
import { callRest } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
let page: Page;
let folder: string;
/** Everything that the page has sent: URLs, headers and bodies. */
const sent: string[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-keys-"));
  pages = await openTestPages({ HLUST_ROLE: "api" });
  page = await pages.open("/keys");
  page.on("request", (request) => {
    sent.push(request.url(), JSON.stringify(request.headers()), request.postData() ?? "");
  });
});
beforeEach(async () => {
  await page.goto(`${pages.service.address}/console/keys`);
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
  await pages[Symbol.asyncDispose]();
});

function button(name: string) {
  return page.getByRole("button", { name, exact: true });
}

function dialog() {
  return page.getByRole("dialog");
}

function row(name: string) {
  return page.getByRole("listitem").filter({ hasText: name });
}

/** Returns the caller that the service reports for a key. */
async function callerWith(
  key: string,
): Promise<{ readonly status: number; readonly name: string }> {
  const answer = await callRest(pages.service.address, key, { method: "GET", path: "/v1/caller" });
  return { status: answer.status, name: answer.json?.displayName ?? "" };
}

async function download(press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

const apiKeyName = "Þórður á Öxnadalsheiði: sjálfvirk upptaka & „ný“ <b>";
let secret = "";

test("an API key is created with only the keyboard, is shown once, and works", async () => {
  await button("Nýr API-lykill").focus();
  await page.keyboard.press("Enter");
  await dialog().waitFor();
  await page.keyboard.type(apiKeyName);
  // The Tab key moves to the scopes. The last two, `account` and `operator`,
  // are off by default.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  const boxes = await dialog().getByRole("checkbox").all();
  assert.deepEqual(await Promise.all(boxes.map((box) => box.isChecked())), [
    true,
    false,
    true,
    false,
    false,
  ]);
  await page.keyboard.press("Enter");
  await dialog().getByRole("heading", { name: "Vistaðu lykilinn núna" }).waitFor();
  secret = (await dialog().getByLabel("API-lykill", { exact: true }).innerText()).trim();
  noteSecret(secret, "credential");
  // The dialog must not close by accident.
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await dialog().getByText(secret, { exact: true }).waitFor();
  const request = await dialog().getByLabel("Kall til að líma").innerText();
  assert.equal(
    request,
    `curl -H "Authorization: Bearer ${secret}" ${pages.service.address}/v1/caller`,
  );
  const ran = await promisify(execFile)("bash", ["-c", request]);
  assert.equal(JSON.parse(ran.stdout).displayName, apiKeyName);
  assert.deepEqual(await callerWith(secret), { status: 200, name: apiKeyName });
  await button("Ég hef vistað lykilinn").press("Enter");
  await dialog().waitFor({ state: "detached" });
  assert.ok(!(await page.content()).includes(secret), "the key is shown only once");
  const facts = await row(apiKeyName).innerText();
  assert.match(facts, /transcripts\.read\s+speech\s+hlust_[0-9a-f]{8}…[0-9a-f]{4}/);
  assert.doesNotMatch(facts, /transcripts\.write|account/);
  assert.match(facts, /rennur út \d+\. /);
  await until(() =>
    page.evaluate<boolean>("document.activeElement?.textContent === 'Nýr API-lykill'"),
  );
});

test("problems with a key are shown at their fields, and no typed text is lost", async () => {
  await button("Nýr API-lykill").click();
  const name = dialog().getByLabel("Nafn");
  await name.fill("ð".repeat(201));
  await dialog().getByText("Nafnið er of langt").waitFor();
  await name.fill("nafn með\u0007bjöllu");
  for (const box of await dialog().getByRole("checkbox").all()) await box.uncheck();
  await dialog().getByLabel("Rennur út").selectOption("date");
  await button("Búa til lykil").click();
  await dialog().getByText("Veldu að minnsta kosti eitt.").waitFor();
  await dialog().getByText("Veldu dag: í dag eða síðar.").waitFor();
  await dialog().getByLabel("Síðasti dagur").fill("2099-12-31");
  await dialog().getByRole("checkbox", { name: "speech" }).check();
  await button("Búa til lykil").click();
  // What the service refuses is said in the language of the page.
  await dialog().getByText("Hér er ósýnilegt stýritákn.").waitFor();
  assert.equal(await name.inputValue(), "nafn með\u0007bjöllu");
  await name.fill("Beinar útsendingar");
  await page.context().setOffline(true);
  await button("Búa til lykil").click();
  await dialog().getByRole("alert").getByText("Ekki næst í þjónustuna.").waitFor();
  await page.context().setOffline(false);
  await button("Búa til lykil").click();
  await dialog().getByRole("heading", { name: "Vistaðu lykilinn núna" }).waitFor();
  noteSecret(await dialog().getByLabel("API-lykill", { exact: true }).innerText(), "credential");
  await button("Ég hef vistað lykilinn").click();
  assert.match(await row("Beinar útsendingar").innerText(), /rennur út 31\. des\. 2099/);
});

let pem = "";

test("a client key is generated in the browser, and its private key is only saved to a file", async () => {
  await button("Nýr undirritunarlykill").click();
  await dialog().getByLabel("Nafn").fill("Skjalasafn Ísafjarðar");
  await button("Búa til lykil").click();
  const saved = await download(() => button("Vista einkalykilinn (.pem)").click());
  assert.equal(saved.name, "private-key.pem");
  pem = saved.text;
  const file = await download(() => button("Vista auðkennin (.json)").click());
  const facts = JSON.parse(file.text);
  assert.deepEqual(Object.keys(facts), ["keyId", "clientId", "audience", "algorithm"]);
  assert.equal(facts.algorithm, "EdDSA");
  const request = await dialog().getByLabel("Kall til að líma").innerText();
  await writeFile(join(folder, "private-key.pem"), pem);
  const ran = await promisify(execFile)("bash", ["-c", request], { cwd: folder });
  assert.equal(JSON.parse(ran.stdout).displayName, "Skjalasafn Ísafjarðar");
  await button("Ég hef vistað lykilinn").click();
  assert.match(await row("Skjalasafn Ísafjarðar").innerText(), /EdDSA · [0-9a-f]{8}…[0-9a-f]{4}/);
  const lines = pem.split("\n").slice(1, -2).join("");
  noteSecret(lines, "credential");
  const bytes = Buffer.from(lines, "base64").subarray(-32);
  const all = sent.join("\n");
  assert.ok(all.includes("publicKey"), "the bodies of requests are checked");
  const forms = (["base64", "base64url", "hex"] as const).map((form) => bytes.toString(form));
  for (const form of [...forms, lines, lines.slice(-43)])
    assert.ok(!all.includes(form.slice(4, -4)));
});

test("a user's own public key is pasted or read from a file; a private key is not sent", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const wrong = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  await button("Nýr undirritunarlykill").click();
  await dialog().getByLabel("Ég á lyklapar").check();
  const field = dialog().getByLabel("Opinber lykill");
  await field.fill(wrong);
  const before = sent.length;
  await button("Skrá lykilinn").click();
  await dialog().getByText("Þetta er einkalykill. Hann var ekki sendur").waitFor();
  assert.equal(sent.length, before);
  await field.fill("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA anna@vik");
  await dialog().getByText("Þetta er SSH-lykill.").waitFor();
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  await field.fill(weak.export({ format: "pem", type: "spki" }).toString());
  await button("Skrá lykilinn").click();
  await dialog().getByText("RSA-lykillinn er 1.024 bitar").waitFor();
  const file = join(folder, "lykill.pem");
  await writeFile(file, publicKey.export({ format: "pem", type: "spki" }));
  await page.locator("input[type=file]").setInputFiles(file);
  await until(async () => (await field.inputValue()).startsWith("-----BEGIN PUBLIC KEY"));
  await dialog().getByLabel("Nafn").fill("Æðey");
  await button("Skrá lykilinn").click();
  await dialog().getByRole("heading", { name: "Lykillinn er skráður" }).waitFor();
  assert.equal(await button("Vista einkalykilinn (.pem)").count(), 0);
  await button("Lokið").click();
  assert.match(await row("Æðey").innerText(), /ES256/);
});

test("a key is revoked after a confirmation with its name, and no longer works", async () => {
  await until(async () => {
    await page.reload();
    await row(apiKeyName)
      .getByText(/notaður (rétt í þessu|fyrir \d+ mín\.)/)
      .waitFor({ timeout: 2_000 });
    return true;
  });
  await button(`Afturkalla lykilinn „${apiKeyName}“`).press("Enter");
  await dialog()
    .getByRole("heading", { name: `Afturkalla „${apiKeyName}“?` })
    .waitFor();
  await dialog()
    .getByText(/síðast notaður (rétt í þessu|fyrir \d+ mín\.)/)
    .waitFor();
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  assert.equal((await callerWith(secret)).status, 200);
  await button(`Afturkalla lykilinn „${apiKeyName}“`).press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await row(apiKeyName).waitFor({ state: "detached" });
  await until(async () => (await callerWith(secret)).status === 401);
  await until(() => page.evaluate<boolean>("document.activeElement?.tagName === 'H1'"));
  await button("Afturkalla lykilinn „Skjalasafn Ísafjarðar“").click();
  await dialog().getByRole("button", { name: "Afturkalla" }).click();
  await row("Skjalasafn Ísafjarðar").waitFor({ state: "detached" });
  await button("Afturkalla lykilinn „First key“").click();
  await dialog().getByText("Þú skráðir þig inn með þessum lykli").waitFor();
  await button("Hætta við").click();
});

test("users who cannot manage keys see who can; a key cannot have more scopes than its creator", async () => {
  const scopes = ["transcripts.read", "account"];
  const { json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Lyklavörður",
    scopes,
  });
  await using keeper = await pages.open("/keys", { key: json.secret });
  await keeper.getByRole("button", { name: "Nýr API-lykill" }).click();
  const offered = keeper.getByRole("dialog").getByRole("checkbox");
  await offered.first().waitFor();
  assert.equal(await offered.count(), 2);
  const reader = await pages.service.call("POST", "/v1/apiKeys", { scopes: ["transcripts.read"] });
  await using viewer = await pages.open("/keys", { key: reader.json.secret });
  await viewer.getByRole("heading", { name: "Lyklar eru í höndum eigenda" }).waitFor();
  assert.equal(await viewer.getByRole("main").getByRole("button").count(), 0);
});

test("the keys page and its dialogs are accessible and fit the screen in every look", async () => {
  const list = page.getByRole("listitem");
  await page.reload();
  await list.first().waitFor();
  // Words at the side are not in the typeface of figures.
  const typeface = await page.evaluate<string>(
    "getComputedStyle(document.querySelector('.key-row .side > span')).fontFamily",
  );
  assert.doesNotMatch(typeface, /mono/);
  await checkLooks(page, "keys");
  await page.getByRole("button", { name: "New signing key" }).click();
  await page.getByLabel("I have a key pair").check();
  await page.getByRole("button", { name: "Register key" }).click();
  await dialog().getByText("Paste the public key here.").waitFor();
  await checkLooks(page, "keys-new", someLooks);
});
