// The versions of a transcript in its aside: lists of 300 versions, their changes, and restoring a
// version; and the files that the browser downloads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import {
  changeElsewhere,
  createInterview,
  segmentsOf,
  turns,
  versionsOf,
} from "./edited-transcript.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
});
after(() => pages[Symbol.asyncDispose]());

const aside = (page: Page) => page.getByRole("complementary");

/**
 * Creates the interview, and a version with one word changed, one removed, and the last turn a
 * minute later.
 */
async function createChanged(): Promise<string> {
  const name = await createInterview(pages.service);
  const changed = segmentsOf(turns.slice(0, -1));
  const [first, second] = changed;
  const words = first?.words.map((word) =>
    word.word === "tvo " ? { ...word, word: "þrjá " } : word,
  );
  const remaining = second?.words.filter(({ word }) => word !== "rólega ");
  await changeElsewhere(pages.service, name, {
    metadata: { subject: "Viðtal við Skeiðará", keywords: ["jökulhlaup", "Núpsstaður"] },
    segments: [
      { ...first, words },
      { ...second, words: remaining },
      ...changed.slice(2),
      ...segmentsOf(turns.slice(-1), 100),
    ],
  });
  return name;
}

test("changes are summarized in the aside, and shown word by word with the keyboard", async () => {
  const name = await createChanged();
  await using page = await pages.open(`/${name}`);
  await aside(page)
    .getByRole("link", { name: "Texta, tímum, titli og efnisorðum breytt" })
    .waitFor();
  await aside(page).getByText("1 orð bættist við · 2 orð féllu út").waitFor();
  const open = aside(page).getByRole("button", { name: "Hvað breyttist" });
  await open.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Hvað breyttist" });
  const places = dialog.getByRole("list", { name: "Breytingar" }).getByRole("listitem");
  await places.first().waitFor();
  assert.deepEqual(await dialog.locator("del").allInnerTexts(), [
    "Viðtal um hlaupið í Skeiðará",
    "jökulhlaup, fréttir",
    "tvo",
    "rólega",
  ]);
  assert.deepEqual(await dialog.locator("ins").allInnerTexts(), [
    "Viðtal við Skeiðará",
    "jökulhlaup, Núpsstaður",
    "þrjá",
  ]);
  const decoration = (tag: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector("${tag}")).textDecorationLine`);
  assert.equal(await decoration("del"), "line-through");
  assert.equal(await decoration("ins"), "underline");
  const at = () => page.evaluate<string>("document.activeElement.innerText.slice(0, 40)");
  await page.keyboard.press("n");
  await until(async () => (await at()).startsWith("UPPLÝSINGAR"));
  await page.keyboard.press("n");
  await dialog.getByText(/^2 af \d$/).waitFor();
  assert.match(await at(), /^0:0/);
  await page.keyboard.press("p");
  await dialog.getByText(/^1 af \d$/).waitFor();
  // Presses a key twice, before the page has rendered the effect of the first press.
  const pressTwice = (key: string) =>
    page.evaluate(
      `for (const key of ["${key}", "${key}"]) dispatchEvent(new KeyboardEvent("keydown", { key }))`,
    );
  await pressTwice("n");
  await dialog.getByText(/^3 af \d$/).waitFor();
  await pressTwice("p");
  await dialog.getByText(/^1 af \d$/).waitFor();
  await checkLooks(page, "transcript-compare");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).search, "");
  await aside(page).locator("button:focus", { hasText: "What changed" }).waitFor();
});

test("an older version is shown and restored, unless others have created a new version in the meantime", async () => {
  const name = await createChanged();
  const [newest, first] = await versionsOf(pages.service, name);
  await using page = await pages.open(`/${name}`);
  await page.getByRole("heading", { level: 1, name: "Viðtal við Skeiðará" }).waitFor();
  await aside(page).getByRole("link", { name: "Fyrsta útgáfa" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Viðtal um hlaupið í Skeiðará" }).waitFor();
  assert.equal(new URL(page.url()).search, `?version=${first?.name}`);
  const current = aside(page).locator("[aria-current=true]");
  await current.filter({ hasText: "Fyrsta útgáfa" }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.innerText"), "Fyrsta útgáfa");
  // Only the newest version can be edited.
  assert.equal(await aside(page).getByRole("button", { name: "Breyta", exact: true }).count(), 0);
  await changeElsewhere(pages.service, name, { metadata: { description: "Önnur lýsing" } });
  await aside(page).getByRole("button", { name: "Endurheimta" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Endurheimta þessa útgáfu?" });
  await dialog.getByRole("button", { name: "Endurheimta" }).press("Enter");
  await dialog.getByRole("alert").filter({ hasText: "breytt annars staðar" }).waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 3);
  await page.locator("a", { hasText: "Lýsingu breytt" }).waitFor({ state: "attached" });
  await dialog.getByRole("button", { name: "Endurheimta" }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.waitForURL(`**/${name}`);
  await page.getByRole("status").filter({ hasText: "Útgáfan er endurheimt" }).waitFor({
    state: "attached",
  });
  const versions = await versionsOf(pages.service, name);
  assert.equal(versions.length, 4);
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(json.metadata.subject, "Viðtal um hlaupið í Skeiðará");
  assert.notEqual(json.version.name, newest?.name);
});

test("the newest of 300 versions load immediately, and the others on demand", async () => {
  const name = await createInterview(pages.service);
  for (let count = 2; count <= 300; count += 1) {
    await changeElsewhere(pages.service, name, { metadata: { subject: `Titill ${count}` } });
  }
  await using page = await pages.open(`/${name}`);
  const rows = aside(page).getByRole("region", { name: "Útgáfur" }).getByRole("listitem");
  await rows.first().getByRole("link", { name: "Titli breytt" }).waitFor();
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes(":diff")) requested.push(request.url());
  });
  assert.equal(await rows.count(), 8);
  const older = aside(page).getByRole("button", { name: "Sýna eldri útgáfur" });
  for (const count of [58, 108, 158, 208, 258, 300]) {
    await older.press("Enter");
    await until(async () => (await rows.count()) === count);
  }
  assert.equal(await older.count(), 0);
  const first = rows.last().getByRole("link", { name: "Fyrsta útgáfa" });
  await first.waitFor();
  // No diff is requested for rows that were never visible, since such a diff would have been
  // requested before this one.
  await rows.nth(298).scrollIntoViewIfNeeded();
  await rows.nth(298).getByRole("link", { name: "Titli breytt" }).waitFor();
  assert.ok(requested.length < 100, `${requested.length}`);
  await page.goto(
    `${pages.service.address}/console/${name}?changed=${(await versionsOf(pages.service, name))[299]?.name}`,
  );
  const dialog = page.getByRole("dialog");
  const words = turns.flatMap(([, text]) => text.split(" ")).length;
  await dialog.getByText(`${words} orð bættust við`).waitFor();
});

test("a diff of 30,000 words is shown in parts", async () => {
  const words = (suffix: (index: number) => string) =>
    Array.from({ length: 300 }, (_, turn) => {
      const said = Array.from({ length: 100 }, (_, at) => suffix(turn * 100 + at)).join(" ");
      return ["S1", `${said} `] as const;
    });
  const name = await createInterview(pages.service, { said: words((index) => `orð${index}`) });
  await changeElsewhere(pages.service, name, {
    segments: segmentsOf(words((index) => (index % 15 === 7 ? `nýtt${index}` : `orð${index}`))),
  });
  await using page = await pages.open(`/${name}`);
  const open = aside(page).getByRole("button", { name: "Hvað breyttist" });
  await open.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2.000 orð bættust við").waitFor();
  const count = () => dialog.locator("ins").count();
  await until(async () => (await count()) === 333);
  const steps = dialog.getByRole("button", { name: "Sýna fleiri breytingar" });
  await steps.press("Enter");
  await until(async () => (await count()) > 600);
  assert.match((await dialog.textContent()) ?? "", /orð6 orð7 nýtt7 orð8/);
  const [, first] = await versionsOf(pages.service, name);
  await page.goto(`${pages.service.address}/console/${name}?changed=${first?.name}`);
  const whole = page.getByRole("button", { name: "Sýna öll 30.000 orðin" });
  await whole.waitFor();
  assert.ok((await dialog.locator("ins.added").innerText()).length < 3000);
  await whole.press("Enter");
  await until(async () =>
    /orð29999\s*$/.test((await dialog.locator("ins.added").textContent()) ?? ""),
  );
});

test("each download is the API's file for the version that is shown, named after the subject", async () => {
  const name = await createChanged();
  const [, first] = await versionsOf(pages.service, name);
  await using page = await pages.open(`/${name}?version=${first?.name}`);
  for (const [button, format, ending] of [
    ["SRT", "SRT", "srt"],
    ["VTT", "VTT", "vtt"],
    ["VTT, orð fyrir orð", "VTT_PAINT_ON", "vtt"],
    ["Merki fyrir Audacity", "AUDACITY_LABELS", "txt"],
    ["Texti", "TEXT", "txt"],
    ["Word", "DOCX", "docx"],
    ["ODT", "ODT", "odt"],
    ["JSON", "JSON", "json"],
  ] as const) {
    const coming = page.waitForEvent("download");
    await aside(page)
      .getByRole("button", { name: `Sækja: ${button}`, exact: true })
      .press("Enter");
    const download = await coming;
    assert.equal(download.suggestedFilename(), `Viðtal um hlaupið í Skeiðará.${ending}`);
    const path = `/v1alpha1/${name}:export?format=${format}&version=${first?.name}`;
    const wanted = await fetch(`${pages.service.address}${path}`, {
      headers: { authorization: `Bearer ${pages.service.key}` },
    });
    assert.deepEqual(await readFile(await download.path()), Buffer.from(await wanted.bytes()));
  }
});

test("downloads are offered in every format, in English too", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`, {
    look: { size: "phone", language: "en", theme: "light" },
  });
  const downloads = aside(page).getByRole("region", { name: "Download" });
  await downloads.waitFor();
  assert.deepEqual(await downloads.getByRole("button").allInnerTexts(), [
    "SRT",
    "VTT",
    "VTT, word by word",
    "Audacity labels",
    "Text",
    "Word",
    "ODT",
    "JSON",
    "Copy text",
  ]);
  const width = await page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= 390, `${width} px`);
});

test("a failed download is reported and can be retried", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  const button = aside(page).getByRole("button", { name: "Sækja: SRT" });
  await button.waitFor();
  await page.context().setOffline(true);
  await button.press("Enter");
  await aside(page).getByRole("alert").filter({ hasText: "Ekki næst í þjónustuna." }).waitFor();
  await page.context().setOffline(false);
  const coming = page.waitForEvent("download");
  await aside(page).getByRole("button", { name: "Reyna aftur" }).press("Enter");
  assert.equal((await coming).suggestedFilename(), "Viðtal um hlaupið í Skeiðará.srt");
});

test("the recording is saved unchanged, even if its URL has expired", async () => {
  const name = await createInterview(pages.service, { metadata: { subject: "../Ísland: <b>?" } });
  const media = readFileSync(join(import.meta.dirname, "../../samples/is-IS.wav"));
  const { json } = await pages.service.call("POST", "/v1alpha1/initupload", { resourceName: name });
  assert.equal((await fetch(json.storageSignedUrl, { method: "PUT", body: media })).status, 200);
  await using page = await pages.open(`/${name}`);
  const button = aside(page).getByRole("button", { name: "Sækja: Upptaka" });
  await button.waitFor();
  let refused = 0;
  await page.route("**/media/**", async (route) => {
    if (route.request().method() !== "HEAD" || refused > 0) return await route.fallback();
    refused += 1;
    return await route.fulfill({ status: 403 });
  });
  const coming = page.waitForEvent("download");
  await button.press("Enter");
  const download = await coming;
  assert.equal(refused, 1);
  assert.equal(download.suggestedFilename(), "Ísland b.wav");
  assert.deepEqual(await readFile(await download.path()), media);
});

test("versions say who has made them, from what, with their note, in both languages", async () => {
  const name = await createInterview(pages.service);
  const [first] = await versionsOf(pages.service, name);
  const change = async (path: string, method: string, body: object): Promise<void> => {
    const { status, json } = await pages.service.call(method, `/v1alpha1/${name}${path}`, body);
    assert.equal(status, 200, JSON.stringify(json));
  };
  const note = encodeURIComponent("Nöfnin eru staðfest\n<b>Anna</b>");
  await change(`?note=${note}`, "PATCH", { metadata: { subject: "Hlaup" } });
  await change("?merged=true", "PATCH", { metadata: { subject: "Hlaupið" } });
  await change(":restore", "POST", { version: first?.name, note: "Aftur eins og var" });
  await using page = await pages.open(`/${name}`);
  const rows = aside(page).getByRole("region", { name: "Útgáfur" }).getByRole("listitem");
  await rows.nth(3).waitFor();
  const made = () => aside(page).locator(".version-made").allInnerTexts();
  assert.deepEqual(await made(), [
    "First key endurheimti eldri útgáfu",
    "First key felldi saman við aðra útgáfu",
    "First key breytti",
    "First key sendi textann inn",
  ]);
  const noteOf = (row: number) => rows.nth(row).locator(".version-note").allInnerTexts();
  assert.deepEqual(await noteOf(0), ["Aftur eins og var"]);
  assert.deepEqual(await noteOf(1), []);
  assert.deepEqual(await noteOf(2), ["Nöfnin eru staðfest\n<b>Anna</b>"]);
  await checkLooks(page, "transcript-version-authors", someLooks);
  await using english = await pages.open(`/${name}`, {
    context: { locale: "en-GB" },
  });
  await english.getByText("Earlier version restored by First key").waitFor();
  await english.getByText("Text submitted by First key").waitFor();
  // A version that names a speaker says which name.
  const speakers = { "1": { fullName: "Guðrún Ævarsdóttir" } };
  await change("", "PATCH", { metadata: { speakers } });
  await english.reload();
  const newest = aside(english).getByRole("region", { name: "Versions" }).getByRole("listitem");
  await newest.first().getByText("Names changed").waitFor();
  const facts = newest.first().locator(".version-facts").first();
  await facts.filter({ hasText: /· Guðrún Ævarsdóttir$/ }).waitFor();
});
