// The account's settings while others change them, too: a form shows what is stored, keeps what the
// user has changed, and saves nothing else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
let page: Page;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  page = await pages.open("/account/settings");
});
after(() => pages[Symbol.asyncDispose]());

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const name = () => page.getByLabel("Nafn reikningsins");
const media = () => page.getByLabel("Upptökur, eftir komu þeirra", { exact: true });
const transcripts = () => page.getByLabel("Uppskriftir, eftir síðustu breytingu", { exact: true });
const stored = async () => (await pages.service.call("GET", "/v1/account")).json;

/** Changes the account as another user, and waits until the page has read it again. */
async function changeElsewhere(body: object): Promise<void> {
  const { json } = await pages.service.call("PATCH", "/v1/account", body);
  let isRead = false;
  page.on("response", async (response) => {
    if (!response.url().endsWith("/api/v1/account")) return;
    const answer = await response.json().catch(() => undefined);
    const same = Object.keys(body).filter(
      (field) => JSON.stringify(answer?.[field]) === JSON.stringify(json[field]),
    );
    isRead ||= same.length === Object.keys(body).length;
  });
  await until(async () => {
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    return isRead;
  });
}

test("a confirmed question, and its undoing, change only what the user has changed", async () => {
  await media().selectOption("í 90 daga");
  await button("Vista").click();
  await dialog().getByText("Upptökur verða aðeins geymdar í 90 daga.").waitFor();
  await changeElsewhere({ displayName: "Frá öðrum", transcriptRetentionDays: 400 });
  await dialog().getByRole("button", { name: "Stytta og eyða" }).click();
  await dialog().waitFor({ state: "detached" });
  let { displayName, mediaRetentionDays, transcriptRetentionDays } = await stored();
  const all = () => [displayName, mediaRetentionDays, transcriptRetentionDays];
  assert.deepEqual(all(), ["Frá öðrum", 90, 400]);
  await until(async () => (await name().inputValue()) === "Frá öðrum");
  // A change that another user has made just before is in the answer to this one.
  await pages.service.call("PATCH", "/v1/account", { displayName: "Frá þriðja" });
  await media().selectOption("alltaf");
  await button("Vista").click();
  await button("Taka aftur").click();
  await page.locator(".toast").getByText("Það var tekið aftur.").waitFor();
  ({ displayName, mediaRetentionDays, transcriptRetentionDays } = await stored());
  assert.deepEqual(all(), ["Frá þriðja", 90, 400]);
  assert.equal(await name().inputValue(), "Frá þriðja");
});

test("a name that is being typed keeps its last space while other values are shown", async () => {
  await name().press("End");
  await page.keyboard.type(" ");
  await changeElsewhere({ transcriptRetentionDays: 30 });
  await until(async () => (await transcripts().inputValue()) === "30");
  assert.equal(await name().inputValue(), "Frá þriðja ");
});

test("defaults that others have changed are shown and stay, except where the user chose", async () => {
  const words = page.getByRole("textbox", { name: "Orð sem búast má við" });
  const written = page.getByRole("checkbox", { name: "Með greinarmerkjum og tölustöfum" });
  const spoken = page.getByLabel("Talað mál");
  const theirs = { languageCode: "en-US", model: "scripted" };
  await words.fill("Þjórsá\n");
  await changeElsewhere({ recordingDefaults: { ...theirs, phrases: ["Vigdís"] } });
  await until(async () => (await spoken.inputValue()) === "en-US");
  assert.equal(await words.inputValue(), "Þjórsá\n");
  // The page does not know this yet.
  const more = { ...theirs, phrases: ["Vigdís"], wordsAsSpoken: true };
  await pages.service.call("PATCH", "/v1/account", { recordingDefaults: more });
  await button("Vista sjálfgildi").click();
  await page.locator(".toast").getByText("Sjálfgildin hafa verið vistuð.").waitFor();
  const { recordingDefaults } = await stored();
  assert.deepEqual(recordingDefaults, { ...theirs, phrases: ["Þjórsá"], wordsAsSpoken: true });
  await until(async () => !(await written.isChecked()));
  assert.equal(await page.getByText("Óvistaðar breytingar").count(), 0);
});

/** Holds the next change of the account back. Returns a function that lets it go on. */
async function holdChange(): Promise<{ sent: Promise<void>; go: () => void }> {
  const [sent, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route("**/v1/account", async (route) => {
    if (route.request().method() === "PATCH") {
      sent.resolve();
      await going.promise;
    }
    await route.continue();
  });
  return { sent: sent.promise, go: going.resolve };
}

test("fields that are set back while a save is on its way keep what the user chose last", async () => {
  await pages.service.call("PATCH", "/v1/account", { mediaRetentionDays: 90 });
  await page.reload();
  await until(async () => (await media().inputValue()) === "90");
  const before = await name().inputValue();
  const offered = page.getByLabel("Bjóða leiðréttingar í uppskriftum");
  await name().fill("Nýtt nafn");
  await media().selectOption("365");
  await offered.uncheck();
  let held = await holdChange();
  await button("Vista").click();
  await held.sent;
  await name().fill(before);
  await offered.check();
  // What is read meanwhile is from before the save.
  await changeElsewhere({ transcriptRetentionDays: 60 });
  held.go();
  await page.locator(".toast").getByText("Stillingarnar hafa verið vistaðar.").waitFor();
  await until(async () => (await transcripts().inputValue()) === "other");
  assert.deepEqual([await name().inputValue(), await offered.isChecked()], [before, true]);
  assert.equal(await media().inputValue(), "365");
  let { displayName, vocabularyCandidatesDisabled } = await stored();
  assert.deepEqual([displayName, vocabularyCandidatesDisabled], ["Nýtt nafn", true]);
  await page.unroute("**/v1/account");
  await button("Vista").click();
  await until(async () => (await stored()).displayName === before);
  ({ displayName, vocabularyCandidatesDisabled } = await stored());
  assert.equal(vocabularyCandidatesDisabled, false);
  // The defaults for new recordings do the same.
  const written = page.getByRole("checkbox", { name: "Með greinarmerkjum og tölustöfum" });
  const was = await written.isChecked();
  await written.setChecked(!was);
  held = await holdChange();
  await button("Vista sjálfgildi").click();
  await held.sent;
  await written.setChecked(was);
  held.go();
  await page.locator(".toast").getByText("Sjálfgildin hafa verið vistuð.").waitFor();
  await page.getByText("Óvistaðar breytingar").waitFor();
  assert.equal(await written.isChecked(), was);
  await page.unroute("**/v1/account");
});
