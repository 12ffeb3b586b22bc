// The list of transcripts is filtered, and several of them are handled at once.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { unzipSync } from "fflate";
import type { Page } from "playwright-core";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { untilListed } from "./listed-titles.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTalk } from "./played-page.ts";
import { seedTranscripts } from "./seed-transcripts.ts";

const seeded = 321;

let pages: TestPages;
let page: Page;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  await seedTranscripts(pages.service.dataFolder, seeded);
  for (const subject of ["fyrsta", "önnur", "þriðja", "síðasta"]) {
    const { status } = await pages.service.call("POST", "/v1alpha1/transcripts", draftOf(subject));
    assert.equal(status, 200);
  }
  page = await pages.open("/transcripts");
});
after(() => pages[Symbol.asyncDispose]());

async function go(path: string): Promise<void> {
  await page.goto(`${pages.service.address}/console${path}`);
}

async function untilAll(): Promise<void> {
  await untilListed(page, ([first]) => first === "síðasta");
}

test("the list is filtered and sorted by what there is, with counts, and the address keeps it", async () => {
  await go("/transcripts");
  await untilAll();
  await page.getByRole("button", { name: "Síur" }).click();
  const panel = page.getByRole("region", { name: "Síur" });
  const english = panel.locator('option[value="en-GB"]');
  await english.waitFor({ state: "attached" });
  assert.match((await english.textContent()) ?? "", /, 40$/);
  await panel.getByLabel("Tungumál upptöku").selectOption("en-GB");
  await untilListed(
    page,
    (found) => found.length > 0 && found.every((each) => each.startsWith("Weekly")),
  );
  await panel.getByLabel("Mælandi").selectOption("Þórður");
  await panel.getByLabel("Röðun").selectOption("title");
  await page.getByText("14 uppskriftir fundust").first().waitFor();
  const isSorted = (found: readonly string[]) =>
    found.length > 5 && found.every((each, at) => at === 0 || each > (found[at - 1] ?? ""));
  const sorted = await untilListed(page, isSorted);
  await checkLooks(page, "transcripts-filtered", someLooks);
  await page.reload();
  await page.getByText(/^14 /).first().waitFor();
  assert.deepEqual((await untilListed(page, isSorted)).slice(0, 5), sorted.slice(0, 5));
  const query = new URL(page.url()).searchParams;
  assert.deepEqual(
    [query.get("language"), query.get("speaker"), query.get("sort")],
    ["en-GB", "Þórður", "title"],
  );
  await page.getByLabel(/^(Breytt frá|Changed from)$/).fill("2030-01-01");
  await page.getByText(/No transcript matches the filters|Engin uppskrift fellur/).waitFor();
  await page.getByRole("button", { name: /^(Taka síur af|Clear filters)$/ }).click();
  await untilListed(page, (found) => found.some((each) => !each.startsWith("Weekly")));
});

test("the list is filtered by keyword, with counts, and by length", async () => {
  await go("/transcripts");
  await untilAll();
  await page.getByRole("button", { name: /^(Síur|Filters)$/ }).click();
  const panel = page.getByRole("region", { name: /^(Síur|Filters)$/ });
  const keywords = panel.getByLabel(/^(Efnisorð|Keyword)$/);
  const briefing = keywords.locator('option[value="briefing"]');
  await briefing.waitFor({ state: "attached" });
  assert.match((await briefing.textContent()) ?? "", /, 40$|\(40\)$/);
  await keywords.selectOption("briefing");
  await untilListed(
    page,
    (found) => found.length > 0 && found.every((each) => each.startsWith("Weekly")),
  );
  const lengths = () => page.locator(".transcript-row .side span").allInnerTexts();
  await panel.getByLabel(/^(Að minnsta kosti|At least)/).fill("60");
  const isLong = (length: string) => /^1:\d\d:\d\d$/.test(length);
  await until(async () => (await lengths()).length > 0 && (await lengths()).every(isLong));
  await panel.getByLabel(/^(Að minnsta kosti|At least)/).fill("");
  await panel.getByLabel(/^(Styttri en|Shorter than)/).fill("60");
  await until(async () => (await lengths()).length > 0 && !(await lengths()).some(isLong));
});

test("rows show the first words of their text and the names of speakers", async () => {
  await go("/transcripts");
  await untilAll();
  const row = page.locator(".transcript-row").first();
  await until(async () => (await row.innerText()).includes("góðan dag og velkomin"));
  const seededRow = page.locator(".transcript-row", { hasText: `, ${seeded}` });
  await seededRow.getByText("Þórður, Ása").waitFor();
});

test("several transcripts are selected with the mouse and the keyboard, deleted and restored, with one message", async () => {
  await go("/transcripts?language=en-GB");
  await untilListed(page, (found) => found.length > 5);
  const boxes = page.locator(".transcript-row .select");
  await boxes.nth(0).click();
  const bar = page.locator(".selection-bar");
  await bar.getByText(/^1 (uppskrift í vali|transcript selected)/).waitFor();
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  await bar.getByText(/^3 (uppskriftir í vali|transcripts selected)/).waitFor();
  await boxes.nth(1).focus();
  await page.keyboard.press("Space");
  await bar.getByText(/^2 (uppskriftir í vali|transcripts selected)/).waitFor();
  await bar
    .getByRole("button", { name: /^(Velja allar í listanum|Select all in the list)$/ })
    .click();
  await bar.getByText(/^40 (uppskriftir í vali|transcripts selected)/).waitFor();
  await checkLooks(page, "transcripts-selected", someLooks);
  await page
    .getByRole("region")
    .getByRole("button", { name: /^(Eyða|Delete)$/ })
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^(Eyða|Delete)$/ }).click();
  await page.locator(".note").filter({ hasText: /: 40 / }).waitFor();
  await untilListed(page, ({ length }) => length === 0);
  const bin = async () =>
    (await pages.service.call("GET", "/v1alpha1/binnedtranscripts")).json.binnedTranscripts.length;
  assert.equal(await bin(), 40);
  await page
    .locator(".note")
    .getByRole("button", { name: /^(Taka aftur|Undo)$/ })
    .click();
  await page.locator("h1:focus").waitFor();
  await untilListed(page, ({ length }) => length > 5);
  assert.equal(await bin(), 0);
});

test("several transcripts are downloaded as one ZIP archive in a chosen format, with unique names", async () => {
  for (const subject of ["Sama heiti", "Sama heiti"]) {
    await pages.service.call("POST", "/v1alpha1/transcripts", draftOf(subject));
  }
  await go("/transcripts?subject=Sama+heiti");
  await untilListed(page, ({ length }) => length === 2);
  await page.locator(".transcript-row .select").first().click();
  await page.locator(".transcript-row .select").nth(1).click();
  const bar = page.locator(".selection-bar");
  await bar.getByRole("button", { name: /^(Sækja|Download) ZIP$/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox").selectOption("SRT");
  const downloaded = page.waitForEvent("download");
  await dialog.getByRole("button", { name: /^(Sækja|Download) ZIP$/ }).click();
  const path = await (await downloaded).path();
  const files = unzipSync(readFileSync(path));
  assert.deepEqual(Object.keys(files).toSorted(), ["Sama heiti (2).srt", "Sama heiti.srt"]);
  for (const content of Object.values(files)) {
    assert.match(Buffer.from(content).toString(), /góðan dag/);
  }
  await bar.getByText(/(Sótt|Downloaded): 2 /).waitFor();
});

test("a keyword is added to several transcripts, and those that failed are named and stay selected", async () => {
  expectProblems(page, /^404 GET .*\/transcripts\//);
  await go("/transcripts");
  await untilListed(page, ({ length }) => length > 6);
  // The seventh row has no text, so that its transcript cannot be read.
  for (const at of [0, 1, 6]) await page.locator(".transcript-row .select").nth(at).click();
  const bar = page.locator(".selection-bar");
  await bar.getByRole("button", { name: /^(Bæta við efnisorði|Add keyword)$/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("yfirfarið");
  await page.keyboard.press("Tab");
  await dialog.getByRole("button", { name: /^(Bæta við efnisorði|Add keyword)$/ }).click();
  const note = bar.locator(".note").first();
  await note.getByText(/(2 uppskriftir|2 transcripts)/).waitFor();
  await note.getByText(/(Tókst ekki|Failed): 1 /).waitFor();
  await note
    .getByRole("listitem")
    .filter({ hasText: `, ${seeded}` })
    .waitFor();
  const filter = encodeURIComponent('metadata.keywords CONTAINS ["yfirfarið"]');
  const { json } = await pages.service.call("GET", `/v1alpha1/transcripts?filter=${filter}`);
  assert.equal(json.transcripts.length, 2);
  await bar.getByText(/1 (uppskrift í vali|transcript selected)/).waitFor();
});

test("the recordings of several transcripts are submitted again, and those without one are named", async () => {
  expectProblems(page, /^400 POST .*transcriptjob:submit$/);
  const withMedia = await createTalk(pages);
  await go("/transcripts");
  const talk = page.locator(".transcript-row", { hasText: "Viðtal um hlaupið í Skeiðará" });
  await until(async () => (await talk.first().innerText()).includes("Fréttamaður"));
  await talk.first().locator(".select").click();
  await page.locator(".transcript-row", { hasText: "síðasta" }).locator(".select").click();
  const bar = page.locator(".selection-bar");
  await bar.getByRole("button", { name: /^(Skrifa upp aftur|Transcribe again)$/ }).click();
  const note = bar.locator(".note").first();
  await note.getByText(/^(Sent til uppskriftar aftur|Submitted again): 1 /).waitFor();
  await note.getByText(/^(Tókst ekki|Failed): 1 /).waitFor();
  await note.getByRole("listitem").filter({ hasText: "síðasta" }).waitFor();
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  assert.deepEqual(
    json.jobs.map(({ newVersionOf, transcriptMetadata }: Submitted) => [
      newVersionOf,
      transcriptMetadata.languageCode,
    ]),
    [[withMedia, "is-IS"]],
  );
});

interface Submitted {
  readonly newVersionOf: string;
  readonly transcriptMetadata: { readonly languageCode: string };
}

test("the first 10,000 transcripts of a longer list are selected at once, and the page says so", async () => {
  await seedTranscripts(
    pages.service.dataFolder,
    10_001,
    new Date("2026-11-19T10:00:00Z"),
    seeded + 1,
  );
  await go("/transcripts");
  await page.locator(".transcript-row .select").first().click();
  const bar = page.locator(".selection-bar");
  const all = bar.getByRole("button", {
    name: /^(Velja allar í listanum|Select all in the list)$/,
  });
  // What it does, and its limit, are said before.
  const hint = await all.getAttribute("aria-describedby");
  assert.match(await page.locator(`[id="${hint}"]`).innerText(), /10[.,]000/);
  await all.click();
  await bar.getByText(/^10[.,]000 (uppskriftir í vali|transcripts selected)/).waitFor();
  await bar.getByText(/^(Aðeins|Only the first) 10[.,]000/).waitFor();
  await checkLooks(page, "transcripts-selection-limit", someLooks);
  await bar.getByRole("button", { name: /^(Velja enga|Clear selection)$/ }).click();
  await bar.waitFor({ state: "detached" });
});
