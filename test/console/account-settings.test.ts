// The page of the account's settings: its name, how long data is kept, and its limits.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql, type Kysely } from "kysely";
import type { Page } from "playwright-core";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import { checkPage, checkShift } from "./check-page.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const icelandic = { size: "desktop", language: "is", theme: "light" } as const;
const parts = new AsyncDisposableStack();
let pages: TestPages;
let page: Page;
let db: Kysely<Tables>;
before(async () => {
  pages = parts.use(await openTestPages({ HLUST_ROLE: "api" }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  page = await pages.open("/");
});
after(() => parts.disposeAsync());

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const name = () => page.getByLabel("Nafn reikningsins");
const media = () => page.getByLabel("Upptökur, eftir komu þeirra", { exact: true });
const transcripts = () => page.getByLabel("Uppskriftir, eftir síðustu breytingu", { exact: true });
const saved = async () =>
  await page.locator(".toast").getByText("Stillingarnar hafa verið vistaðar.").waitFor();

async function stored() {
  const { json } = await pages.service.call("GET", "/v1/account");
  const { displayName, mediaRetentionDays, transcriptRetentionDays } = json;
  return [displayName, mediaRetentionDays, transcriptRetentionDays];
}

test("the menu leads to the settings, and the account is renamed with only the keyboard", async () => {
  await page.getByRole("link", { name: "Stillingar reiknings" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Stillingar reiknings" }).waitFor();
  await name().press("ControlOrMeta+A");
  await page.keyboard.type("Þjóðskjalasafn & <b>");
  await page.keyboard.press("Enter");
  await saved();
  assert.deepEqual(await stored(), ["Þjóðskjalasafn & <b>", 0, 0]);
  await page.locator(".account-name").getByText("Þjóðskjalasafn & <b>").waitFor();
});

test("saved settings are taken back, and what was typed since then stays", async () => {
  const [before] = await stored();
  await name().fill("Annað nafn");
  await media().selectOption("í 90 daga");
  await button("Vista").click();
  await dialog().getByRole("button", { name: "Stytta og eyða" }).click();
  await dialog().waitFor({ state: "detached" });
  await saved();
  // What a shorter retention has deleted would not come back.
  await button("Taka aftur").waitFor({ state: "detached" });
  assert.deepEqual((await stored()).slice(0, 2), ["Annað nafn", 90]);
  await media().selectOption("alltaf");
  await name().fill("Þriðja nafnið");
  await button("Vista").click();
  await until(async () => (await stored())[1] === 0);
  await name().fill("Fjórða");
  await button("Taka aftur").click();
  await page.locator(".toast").getByText("Það var tekið aftur.").waitFor();
  assert.deepEqual((await stored()).slice(0, 2), ["Annað nafn", 90]);
  assert.equal(await name().inputValue(), "Fjórða");
  assert.equal(await media().inputValue(), "90");
  await media().selectOption("alltaf");
  await name().fill(`${before}`);
  await button("Vista").click();
  await until(async () => (await stored())[1] === 0);
});

test("what is taken back is shown in a form that was opened since, and a refusal in its own words", async () => {
  const [before] = await stored();
  await name().fill("Fimmta nafnið");
  await button("Vista").click();
  await until(async () => (await stored())[0] === "Fimmta nafnið");
  // The message stays while the pointer is on it.
  await button("Taka aftur").hover();
  const menu = page.getByRole("navigation");
  await menu.getByRole("link", { name: "Orðaforði" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Orðaforði" }).waitFor();
  await page.goBack();
  await until(async () => (await name().inputValue()) === "Fimmta nafnið");
  expectProblems(page, /^400 PATCH .*account$/);
  await page.route("**/v1/account", (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 400, json: { code: 3, message: "something new" } })
      : route.fallback(),
  );
  await button("Taka aftur").click();
  const words = page.getByRole("alert").filter({ hasText: "Þjónustan tók ekki við þessu." });
  await words.locator("[lang=en]", { hasText: "something new" }).waitFor();
  await page.unroute("**/v1/account");
  await button("Taka aftur").click();
  await until(async () => (await name().inputValue()) === before);
  assert.equal((await stored())[0], before);
});

test("a shorter retention is saved only after a question that says what is deleted", async () => {
  await media().selectOption("í 30 daga");
  await page.getByText("Þetta er styttri tími en áður").waitFor();
  await transcripts().selectOption("annað…");
  await page.getByLabel("breytingu: Dagar").fill("40.000");
  await button("Vista").click();
  await page.getByText("Skrifaðu fjölda daga, frá 1 til 36.500.").waitFor();
  await checkPage(page);
  await checkLooks(page, "account-settings-wrong", someLooks);
  await show(page, icelandic);
  await page.getByLabel("breytingu: Dagar").fill("400");
  await button("Vista").press("Enter");
  await dialog().getByText("Upptökur verða aðeins geymdar í 30 daga.").waitFor();
  await dialog().getByText("Uppskriftir verða aðeins geymdar í 400 daga.").waitFor();
  await checkPage(page);
  await dialog().getByRole("button", { name: "Hætta við" }).click();
  assert.deepEqual((await stored()).slice(1), [0, 0]);
  await button("Vista").click();
  await dialog().getByRole("button", { name: "Stytta og eyða" }).press("Enter");
  await dialog().waitFor({ state: "detached" });
  assert.deepEqual((await stored()).slice(1), [30, 400]);
  // A longer one deletes nothing, and needs no question.
  await media().selectOption("alltaf");
  await button("Vista").click();
  await until(async () => (await stored())[1] === 0);
  await page.reload();
  await until(async () => (await page.getByLabel("breytingu: Dagar").inputValue()) === "400");
});

test("only what was changed is sent, and what others have changed stays", async () => {
  await name().fill("Safnið");
  await pages.service.call("PATCH", "/v1/account", { mediaRetentionDays: 90 });
  await page.getByLabel("Bjóða leiðréttingar í uppskriftum").uncheck();
  await button("Vista").click();
  await until(async () => (await stored())[0] === "Safnið");
  assert.deepEqual(await stored(), ["Safnið", 90, 400]);
  const { json } = await pages.service.call("GET", "/v1/account");
  assert.equal(json.vocabularyCandidatesDisabled, true);
});

test("a name that the service refuses, and a lost connection, keep what was typed", async () => {
  expectProblems(page, /^400 PATCH \/console\/api\/v1\/account$/);
  await name().fill("a\u0007");
  await button("Vista").click();
  await page.getByText("Hér er ósýnilegt stýritákn.").waitFor();
  await name().fill("Safnið okkar");
  await page.context().setOffline(true);
  await button("Vista").click();
  await page.getByRole("alert").getByText("Ekki næst í þjónustuna.").waitFor();
  await page.context().setOffline(false);
  assert.equal(await name().inputValue(), "Safnið okkar");
  await button("Vista").click();
  await until(async () => (await stored())[0] === "Safnið okkar");
});

test("what a later service refuses has a general sentence, followed by its own words", async () => {
  const refusal = (field: string) => {
    const fieldViolations = [
      { field, description: "must be even" },
      { field, description: "has a control character" },
    ];
    const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations }];
    return { status: 400, json: { code: 3, message: `${field}: must be even`, details } };
  };
  const english = page.locator("[lang=en]", { hasText: "must be even" });
  for (const field of ["displayName", "newerField"]) {
    await page.route("**/v1/account", (route) =>
      route.request().method() === "PATCH" ? route.fulfill(refusal(field)) : route.fallback(),
    );
    await name().fill(`Safnið ${field}`);
    await button("Vista").click();
    await page.getByText("Þjónustan tók ekki við þessu.").first().waitFor();
    await english.waitFor();
    const inNote = page.getByRole("alert").getByText("Hér er ósýnilegt stýritákn.");
    if (field === "newerField") await inNote.waitFor();
    await checkPage(page);
    await page.unrouteAll();
  }
});

test("limits and what is used of them are shown, and the page fits every window", async () => {
  await sql`update account set limits = '{"storedBytes": 50000000000, "queuedJobs": 10}'`.execute(
    db,
  );
  const jobs = page.getByRole("progressbar", { name: "Verk sem ekki er lokið: 0 % notuð" });
  const shown = async () => await jobs.waitFor();
  await until(async () => {
    const { json } = await pages.service.call("GET", "/v1/account");
    return json.limits.queuedJobs === 10;
  });
  await page.reload();
  await shown();
  await page.getByText("0 af 10", { exact: true }).waitFor();
  await page.getByText("0 B af 50,0 GB").waitFor();
  await page.getByText("0 · engin mörk").first().waitFor();
  await checkShift(page, shown);
  await checkPage(page);
  await checkLooks(page, "account-settings");
});

test("users who cannot change the account see who can, and the limits", async () => {
  const scopes = ["transcripts.read"];
  const reader = await pages.service.call("POST", "/v1/apiKeys", { scopes, displayName: "Les" });
  await using viewer = await pages.open("/account/settings", { key: reader.json.secret });
  await viewer.getByText("Stillingar reikningsins eru í höndum eigenda").waitFor();
  await viewer.getByText("0 af 10", { exact: true }).waitFor();
  const defaults = viewer.getByRole("region", { name: "Sjálfgildi nýrra upptaka" });
  const facts = async () => await defaults.locator("dd").allInnerTexts();
  assert.deepEqual(await facts(), [
    "Málið á stjórnborðinu",
    "Sjálfvalið eftir tungumáli",
    "Eins margir og tala",
    "Engin",
    "Með greinarmerkjum og tölustöfum",
  ]);
  const recordingDefaults = {
    languageCode: "en-US",
    model: "scripted",
    diarizationConfig: { enableSpeakerDiarization: true, maxSpeakerCount: 3 },
    phrases: ["Þjórsá", "Vigdís"],
    wordsAsSpoken: true,
  };
  const path = "/v1/account";
  assert.equal((await pages.service.call("PATCH", path, { recordingDefaults })).status, 200);
  await checkShift(viewer, async () => await defaults.getByText("Þjórsá, Vigdís").waitFor());
  assert.deepEqual(await facts(), [
    "Enska",
    "scripted",
    "Mest 3 mælendur",
    "Þjórsá, Vigdís",
    "Orðin eins og þau eru sögð",
  ]);
  assert.equal(await viewer.getByRole("main").getByRole("button").count(), 0);
  await checkPage(viewer);
  await pages.service.call("PATCH", path, { recordingDefaults: {} });
});

const words = () => page.getByRole("textbox", { name: "Orð sem búast má við" });
const storedDefaults = async () =>
  (await pages.service.call("GET", "/v1/account")).json.recordingDefaults;

test("defaults for new recordings are saved, with what is wrong at its field", async () => {
  await show(page, icelandic);
  const group = page.getByRole("group", { name: "Sjálfgildi nýrra upptaka" });
  const unsaved = page.getByText("Óvistaðar breytingar");
  await group.getByLabel("Talað mál").selectOption("Enska");
  await group.getByLabel("Líkan").selectOption("scripted");
  await words().fill("Vigdís Finnbogadóttir\nvigdís finnbogadóttir");
  await page.getByRole("checkbox", { name: "Með greinarmerkjum og tölustöfum" }).uncheck();
  await unsaved.waitFor();
  await button("Vista sjálfgildi").click();
  await page.getByText("Sama orðið er hér tvisvar.").waitFor();
  assert.equal(await words().getAttribute("aria-invalid"), "true");
  assert.equal(await storedDefaults(), undefined);
  await checkPage(page);
  await checkLooks(page, "account-defaults-wrong", someLooks);
  await show(page, icelandic);
  await words().fill("Vigdís Finnbogadóttir, Þjórsá");
  await button("Vista sjálfgildi").press("Enter");
  await page.locator(".toast").getByText("Sjálfgildin hafa verið vistuð.").waitFor();
  await unsaved.waitFor({ state: "detached" });
  assert.deepEqual(await storedDefaults(), {
    languageCode: "en-US",
    model: "scripted",
    phrases: ["Vigdís Finnbogadóttir", "Þjórsá"],
    wordsAsSpoken: true,
  });
});

test("a new recording has the account's defaults, until the user chooses otherwise", async () => {
  await using upload = await pages.open("/jobs?new");
  const spoken = upload.getByLabel("Hvaða mál er talað?");
  const written = upload.getByRole("checkbox", { name: "Með greinarmerkjum og tölustöfum" });
  const sent = async () => {
    await upload.getByRole("radio", { name: "Slóð á netinu" }).check();
    await upload.getByRole("textbox", { name: "Slóð", exact: true }).fill("https://example.org/a");
    const requested = upload.waitForRequest(/transcriptjob:submit$/);
    const answered = upload.waitForResponse(/transcriptjob:submit$/);
    await upload.getByRole("button", { name: "Skrifa upp" }).click();
    assert.equal((await answered).status(), 200);
    const { metadata, useUri: _, uri: __, ...rest } = (await requested).postDataJSON();
    return { languageCode: metadata.languageCode, ...rest };
  };
  await upload.getByText("Líkan: scripted").waitFor();
  assert.deepEqual([await spoken.inputValue(), await written.isChecked()], ["en-US", false]);
  // The scripted engine takes no phrases.
  await upload.getByText("Sjálfgefnu orðin eru ekki notuð").waitFor();
  await checkLooks(upload, "jobs-form-defaults", someLooks);
  await show(upload, icelandic);
  assert.deepEqual(await sent(), { languageCode: "en-US", model: "scripted" });
  // What was preset is not the user's choice: other defaults are seen the next time.
  await pages.service.call("PATCH", "/v1/account", {
    recordingDefaults: { languageCode: "is-IS", model: "gone" },
  });
  await upload.goto(`${pages.service.address}/console/jobs?new`);
  await upload.getByText("Sjálfgefna líkanið, gone, er ekki uppsett").waitFor();
  assert.deepEqual([await spoken.inputValue(), await written.isChecked()], ["is-IS", true]);
  await spoken.selectOption("Enska");
  await written.uncheck();
  await upload.getByText("Líkan, mælendur og orð").click();
  await upload.getByLabel("Líkan", { exact: true }).selectOption("scripted");
  assert.deepEqual(await sent(), { languageCode: "en-US", model: "scripted" });
  // The user's own choices win the next time; the model is not remembered.
  await upload.goto(`${pages.service.address}/console/jobs?new`);
  await until(async () => (await spoken.inputValue()) === "en-US");
  assert.equal(await written.isChecked(), false);
  assert.deepEqual(await sent(), { languageCode: "en-US" });
  // Live has the language, too.
  await upload.goto(`${pages.service.address}/console/live`);
  await until(async () => (await upload.getByLabel("Ég tala").inputValue()) === "en-US");
});

test("a file in another language says which choices do not apply, and keeps its language alone", async () => {
  await using upload = await pages.open("/jobs?new");
  const choose = async (...names: string[]) =>
    await upload
      .locator(".new-job input[type=file]")
      .setInputFiles(names.map((name) => ({ name, mimeType: "", buffer: Buffer.from("sound") })));
  await choose("fyrri.wav", "second.wav");
  const spoken = upload.getByLabel("Hvaða mál er talað?");
  await upload.getByRole("combobox", { name: "Mál í second.wav" }).selectOption("Enska");
  const files = upload.getByRole("list", { name: "Skrár sem þú valdir" });
  await upload.getByText("Líkan, mælendur og orð").click();
  const words = upload.getByRole("textbox", { name: "Orð sem búast má við" });
  await words.fill("Þjórsá");
  const second = files.getByRole("listitem").nth(1);
  const unused = second.getByText("Líkanið fyrir þetta mál notar ekki orð sem búast má við.");
  await unused.waitFor();
  await words.fill("");
  await unused.waitFor({ state: "detached" });
  assert.equal(await spoken.inputValue(), "is-IS");
  await upload.getByRole("button", { name: "Fjarlægja fyrri.wav" }).click();
  await until(async () => (await spoken.inputValue()) === "en-US");
  // Another file has the language of the form, as the first one has now.
  await choose("þriðja.wav");
  await upload.getByRole("combobox", { name: "Mál í þriðja.wav" }).waitFor();
  await spoken.selectOption("Íslenska");
  const same = upload.getByRole("combobox", { name: /^Mál í/ });
  assert.deepEqual(await same.evaluateAll((all) => all.map((each) => Reflect.get(each, "value"))), [
    "",
    "",
  ]);
  // The user has chosen the language of a file, and none for the next recordings.
  await upload.goto(`${pages.service.address}/console/jobs?new`);
  await choose("fyrri.wav", "second.wav");
  await upload.getByRole("combobox", { name: "Mál í second.wav" }).selectOption("Enska");
  await upload.getByRole("button", { name: "Fjarlægja fyrri.wav" }).click();
  await until(async () => (await spoken.inputValue()) === "en-US");
  await upload.getByRole("radio", { name: "Slóð á netinu" }).check();
  await upload.getByRole("textbox", { name: "Slóð", exact: true }).fill("https://example.org/a");
  await upload.getByRole("button", { name: "Skrifa upp" }).click();
  await spoken.waitFor({ state: "detached" });
  await upload.goto(`${pages.service.address}/console/jobs?new`);
  await until(async () => (await spoken.inputValue()) === "is-IS");
});

test("a default that is no longer installed is shown as such", async () => {
  await pages.service.call("PATCH", "/v1/account", {
    recordingDefaults: { languageCode: "fo-FO", model: "gone", phrases: ["Tórshavn"] },
  });
  await page.reload();
  await show(page, icelandic);
  await page.getByRole("option", { name: "Færeyska (ekkert líkan uppsett)" }).waitFor({
    state: "attached",
  });
  assert.equal(await page.getByLabel("Líkan", { exact: true }).inputValue(), "gone");
  await using upload = await pages.open("/jobs?new");
  await upload.getByText("Ekkert líkan er uppsett fyrir sjálfgefna málið (færeyska).").waitFor();
  assert.equal(await upload.getByLabel("Hvaða mál er talað?").inputValue(), "is-IS");
});
