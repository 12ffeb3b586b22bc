// The page of the vocabulary: phrases are added, changed, imported, accepted, rejected and deleted.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import {
  checkLooks,
  openTestPages,
  show,
  someLooks,
  type Look,
  type TestPages,
} from "./open-test-pages.ts";

const icelandic: Look = { size: "desktop", language: "is", theme: "light" };
let pages: TestPages;
let page: Page;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  page = await pages.open("/vocabulary");
});
after(() => pages[Symbol.asyncDispose]());

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const row = (text: string) => page.getByRole("listitem").filter({ hasText: text });

/** Returns the stored phrases with their state and weight. */
async function stored(): Promise<string[]> {
  const { json } = await pages.service.call("GET", "/v2beta1/vocabularyPhrases");
  return json.phrases.map(({ phrase, state, weight }: Record<string, unknown>) =>
    [phrase, state, weight].join(" "),
  );
}

test("a phrase is added, changed and deleted", async () => {
  expectProblems(page, /^400 POST .*vocabularyPhrases$/);
  await page.getByText("Ekkert orð enn.").waitFor();
  await button("Bæta við").click();
  await dialog().getByRole("button", { name: "Vista" }).click();
  await dialog().getByText("Skrifaðu orð.").waitFor();
  await dialog().getByLabel("Orð eða orðasamband").fill("Ásbyrgi 🏔️");
  await dialog().getByRole("button", { name: "Vista" }).click();
  await dialog().getByText("Hér er tjákn, U+1F3D4.").waitFor();
  await dialog().getByLabel("Orð eða orðasamband").fill("Ásbyrgi");
  await dialog().getByLabel("Hljómar eins og").fill("ás birgi, ásbirgi");
  await checkLooks(page, "vocabulary-add", someLooks);
  await show(page, icelandic);
  await dialog().getByRole("button", { name: "Vista" }).click();
  await row("hljómar eins og ás birgi, ásbirgi").waitFor();
  await button("Breyta: Ásbyrgi").click();
  await dialog().getByLabel("Vægi").fill("12,5");
  await dialog().getByRole("button", { name: "Vista" }).click();
  await row("vægi 12,5").waitFor();
  assert.deepEqual(await stored(), ["Ásbyrgi ACTIVE 12.5"]);
  await button("Eyða: Ásbyrgi").click();
  await dialog().getByRole("button", { name: "Eyða", exact: true }).click();
  await page.getByText("Ekkert orð enn.").waitFor();
  assert.deepEqual(await stored(), []);
  await button("Taka aftur").press("Enter");
  await row("hljómar eins og ás birgi, ásbirgi").waitFor();
  assert.deepEqual(await stored(), ["Ásbyrgi ACTIVE 12.5"]);
  await button("Eyða: Ásbyrgi").click();
  await dialog().getByRole("button", { name: "Eyða", exact: true }).click();
  await page.getByText("Ekkert orð enn.").waitFor();
});

test("lines are imported, and invalid ones are named", async () => {
  expectProblems(page, /^400 POST .*vocabularyPhrases:import$/);
  await button("Flytja inn lista").click();
  const lines = dialog().getByLabel("Eitt orð eða orðasamband í línu");
  await lines.fill("Ásbyrgi\n\nHúsavík 🐋\n---\n");
  await button("Flytja inn").click();
  await dialog().getByText("Lína 3: Hér er tjákn, U+1F40B.").waitFor();
  await dialog().getByText("Lína 4: Hér er hvorki bókstafur né tölustafur.").waitFor();
  assert.deepEqual(await stored(), []);
  await lines.fill("Ásbyrgi\nHúsavík\nhúsavík\n");
  await button("Flytja inn").click();
  await row("Húsavík").waitFor();
  assert.deepEqual(await stored(), ["Húsavík ACTIVE 10", "Ásbyrgi ACTIVE 10"]);
});

test("a dialog that saves stays open until the service has answered", async () => {
  const rows = [
    ["Bæta við", "Orð eða orðasamband", "Vista", "Dynjandi"],
    ["Flytja inn lista", "Eitt orð eða orðasamband í línu", "Flytja inn", "Goðafoss"],
  ] as const;
  for (const [opens, label, sends, text] of rows) {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/vocabularyPhrases{,:import}", async (route) => {
      if (route.request().method() === "POST") await answered;
      await route.continue();
    });
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await button(opens).click();
    await dialog().getByLabel(label, { exact: true }).fill(text);
    await dialog().getByRole("button", { name: sends, exact: true }).press("Enter");
    await sent;
    await page.keyboard.press("Escape");
    // What the page does about a key is done two frames later.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
    assert.equal(await dialog().getByLabel(label, { exact: true }).count(), 1, opens);
    answer();
    await row(text).waitFor();
    await dialog().waitFor({ state: "detached" });
    await page.unrouteAll();
  }
});

test("suggestions are accepted and rejected", async () => {
  for (const phrase of ["Kópasker", "Raufarhöfn"]) {
    const body = { phrase, languageCode: "is-IS", state: "CANDIDATE" };
    await pages.service.call("POST", "/v2beta1/vocabularyPhrases", body);
  }
  await page.reload();
  const state = page.getByLabel("Staða");
  await state.selectOption("Tillögur");
  await row("Kópasker").waitFor();
  await checkLooks(page, "vocabulary", someLooks);
  await show(page, icelandic);
  await button("Samþykkja: Kópasker").click();
  await button("Hafna: Raufarhöfn").click();
  await page.locator(".toast").getByText("„Raufarhöfn“ var hafnað.").waitFor();
  await button("Taka aftur").click();
  await button("Hafna: Raufarhöfn").click();
  await page.getByText("Engar tillögur.").waitFor();
  const isDisabled = async () =>
    (await pages.service.call("GET", "/v1/account")).json.vocabularyCandidatesDisabled;
  await page.getByLabel("Bjóða leiðréttingar í uppskriftum sem tillögur").click();
  await until(isDisabled);
  await page.getByLabel("Bjóða leiðréttingar í uppskriftum sem tillögur").click();
  await until(async () => !(await isDisabled()));
  await state.selectOption("Hafnað");
  await row("Raufarhöfn").waitFor();
  await state.selectOption("Í notkun");
  await row("Kópasker").waitFor();
  await until(async () => (await stored()).includes("Raufarhöfn REJECTED 10"));
});

test("a viewer sees the vocabulary and changes nothing", async () => {
  const { json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Lesandi",
    scopes: ["transcripts.read"],
  });
  await using other = await pages.open("/vocabulary", { key: json.secret });
  await other.getByRole("listitem").filter({ hasText: "Ásbyrgi" }).waitFor();
  assert.equal(await other.getByRole("button", { name: /Breyta|Eyða|Bæta við/ }).count(), 0);
});
