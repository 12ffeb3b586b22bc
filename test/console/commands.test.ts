// The keys of every page, and the command palette.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { checkPage } from "./check-page.ts";
import { openInterview } from "./edited-page.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const icelandic = { size: "desktop", language: "is", theme: "light" } as const;

let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages();
  const { samples, segments } = interview();
  const transcript = { metadata: interviewMetadata, segments };
  name = await createTranscript(pages.service, transcript, Uint8Array.from(wavOf(samples)));
});
after(() => pages[Symbol.asyncDispose]());

const heading = (page: Page, title: string) =>
  page.getByRole("heading", { level: 1, name: title, exact: true });
const palette = (page: Page) => page.getByRole("dialog", { name: "Skipanir" });
const shortcuts = (page: Page) => page.getByRole("dialog", { name: "Flýtilyklar" });
const pathOf = (page: Page): string => new URL(page.url()).pathname.replace("/console", "");

/** Opens the palette, which shows that every key that was pressed before has been handled. */
async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await palette(page).waitFor();
}

test("G and a letter open the pages, also after a wrong letter, and with keys of other alphabets", async () => {
  await using page = await pages.open("/");
  await heading(page, "Yfirlit").waitFor();
  for (const [letter, title] of [
    ["t", "Uppskriftir"],
    ["J", "Verk"],
    ["l", "Beint"],
    ["u", "Notkun"],
    ["s", "Stillingar reiknings"],
    ["o", "Yfirlit"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await heading(page, title).waitFor();
    await page.locator("h1:focus").getByText(title, { exact: true }).waitFor();
  }
  // X stands for none of the pages, so the next K is a key of its own.
  for (const key of ["g", "x", "k"]) await page.keyboard.press(key);
  // A keyboard with Greek letters.
  await page.evaluate(`for (const [key, code] of [["γ", "KeyG"], ["ω", "KeyV"]]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true }));
  }`);
  await heading(page, "Orðaforði").waitFor();
});

test("G and the letters that ? lists open every page of the menu", async () => {
  await using page = await pages.open("/usage");
  await heading(page, "Notkun").waitFor();
  // The menu has all pages except those that a page leads to, and the page of the API.
  const menu = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".rail nav a, .foot a")].map((link) => link.pathname)`,
  );
  await page.keyboard.press("?");
  const keys = shortcuts(page).locator("dt", { hasText: /^G / });
  await keys.first().waitFor();
  const letters = (await keys.allInnerTexts()).map((text) => text.trim().slice(-1));
  assert.equal(new Set(letters).size, letters.length);
  await page.keyboard.press("Escape");
  await shortcuts(page).waitFor({ state: "detached" });
  const opened: string[] = [];
  const place = (): string => new URL(page.url()).pathname;
  // The reference does not belong to the console, so it comes last.
  for (const letter of letters.toSorted((a, b) => Number(a === "D") - Number(b === "D"))) {
    const before = place();
    await page.keyboard.press("g");
    await page.keyboard.press(letter.toLowerCase());
    await page.waitForURL(({ pathname }) => pathname !== before);
    await page.locator("h1").first().waitFor();
    opened.push(place());
  }
  const withoutKey = menu.filter((path) => !opened.includes(path));
  assert.deepEqual(withoutKey, []);
  assert.ok(opened.length >= 15, opened.join(" "));
});

test("no key and no command leads a viewer to a page that is of no use to one", async () => {
  const key = await pages.service.call("POST", "/v1/apiKeys", {
    scopes: ["transcripts.read"],
    displayName: "Les",
  });
  await using page = await pages.open("/usage", { key: key.json.secret });
  await heading(page, "Notkun").waitFor();
  for (const letter of ["l", "k", "w", "s", "i"]) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
  }
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await heading(page, "Uppskriftir").waitFor();
  await page.keyboard.press("?");
  const keys = shortcuts(page).locator("dt", { hasText: /^G / });
  await keys.first().waitFor();
  const listed = (await keys.allInnerTexts()).map((text) => text.trim());
  assert.deepEqual(
    listed.filter((text) => /[LKWSIR]$/.test(text)),
    [],
  );
  await page.goBack();
  await heading(page, "Notkun").waitFor();
});

test("/ searches transcripts and N makes a new one, with the focus where one types", async () => {
  await using page = await pages.open("/usage");
  await heading(page, "Notkun").waitFor();
  await page.keyboard.press("/");
  const field = page.getByRole("searchbox");
  await page.locator("input[type=search]:focus").waitFor();
  // The field has the focus, so the keys are text.
  await page.keyboard.type("n/g?t");
  assert.equal(await field.inputValue(), "n/g?t");
  assert.equal(pathOf(page), "/transcripts");
  await page.locator("h1").focus();
  await page.keyboard.press("/");
  await page.locator("input[type=search]:focus").waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("n");
  await page.getByRole("radio", { name: "Skrá á tækinu" }).waitFor();
  assert.equal(pathOf(page), "/jobs");
});

test("? lists the keys of every page; on a transcript's page, with its own keys", async () => {
  await using page = await pages.open("/transcripts");
  await heading(page, "Uppskriftir").waitFor();
  await page.keyboard.press("?");
  await shortcuts(page).getByText("Leita í uppskriftum").waitFor();
  await checkPage(page);
  await checkLooks(page, "shortcuts", someLooks);
  await show(page, icelandic);
  // Keys do nothing in a dialog.
  await page.keyboard.press("n");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await shortcuts(page).waitFor({ state: "detached" });
  assert.equal(await palette(page).count(), 0);
  assert.equal(pathOf(page), "/transcripts");
  await page.goto(`${pages.service.address}/console/${name}`);
  await page.locator(".player").waitFor();
  // Until the player listens, the list has only the keys of every page.
  const own = shortcuts(page).getByText("Næsta orð");
  await until(async () => {
    await page.keyboard.press("?");
    await shortcuts(page).getByText("Leita í uppskriftum").waitFor();
    if ((await own.count()) > 0) return true;
    await page.keyboard.press("Escape");
    await shortcuts(page).waitFor({ state: "detached" });
    return false;
  });
  await shortcuts(page).getByText("Á öllum síðum").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 1);
  await page.keyboard.press("Escape");
  await shortcuts(page).waitFor({ state: "detached" });
  // J after G is a page, and not a step back of the recording.
  await page.keyboard.press("5");
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await heading(page, "Verk").waitFor();
});

test("keys are text in the editor, and Control+K opens the palette there", async () => {
  await using page = await openInterview(pages);
  const text = page.locator(".ProseMirror");
  const before = await text.innerText();
  await page.keyboard.type("n/g?t");
  await until(async () => (await text.innerText()) !== before);
  assert.ok((await text.innerText()).includes("n/g?t"));
  assert.equal(await page.getByRole("dialog").count(), 0);
  await openPalette(page);
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "detached" });
  await page.locator(".ProseMirror:focus").waitFor();
});

test("single keys are off in every browser once the user has turned them off, and can be turned on", async () => {
  await using page = await pages.open("/usage");
  await heading(page, "Notkun").waitFor();
  await page.keyboard.press("?");
  const sent = page.waitForResponse((response) => response.request().method() === "PUT");
  await shortcuts(page).getByRole("checkbox", { name: "Nota flýtilykla" }).uncheck();
  assert.equal((await sent).status(), 200);
  await page.keyboard.press("Escape");
  await shortcuts(page).waitFor({ state: "detached" });
  for (const key of ["?", "/", "n", "g", "t"]) await page.keyboard.press(key);
  await openPalette(page);
  assert.equal(pathOf(page), "/usage");
  assert.equal(await page.getByRole("dialog").count(), 1);
  await page.keyboard.press("Escape");
  // Another browser has no copy of the setting, and asks the service before it does anything.
  await using other = await pages.open("/usage");
  await heading(other, "Notkun").waitFor();
  assert.equal(await other.evaluate("localStorage.getItem('hlust.shortcuts')"), null);
  const asked = other.waitForResponse((response) => response.url().endsWith("/console/settings"));
  await other.keyboard.press("n");
  await asked;
  await until(
    async () => (await other.evaluate("localStorage.getItem('hlust.shortcuts')")) === "off",
  );
  await openPalette(other);
  assert.equal(pathOf(other), "/usage");
  await other.keyboard.type("flytilykl");
  await other.keyboard.press("Enter");
  await shortcuts(other).getByRole("checkbox", { name: "Nota flýtilykla" }).check();
  await until(
    async () => (await other.evaluate("localStorage.getItem('hlust.shortcuts')")) === null,
  );
  await other.keyboard.press("Escape");
  await shortcuts(other).waitFor({ state: "detached" });
  await other.keyboard.press("g");
  await other.keyboard.press("t");
  await heading(other, "Uppskriftir").waitFor();
});

test("the palette is a combobox that finds pages, actions and transcripts without accents", async () => {
  await using page = await pages.open("/usage");
  await heading(page, "Notkun").waitFor();
  const loaded = (): Promise<boolean> =>
    page.evaluate(
      "performance.getEntriesByType('resource').some(({ name }) => name.includes('/palette'))",
    );
  assert.equal(await loaded(), false);
  await openPalette(page);
  assert.equal(await loaded(), true);
  const field = page.getByRole("combobox", { name: "Leita að síðu, skipun eða uppskrift" });
  await page.locator("[role=combobox]:focus").waitFor();
  const active = (): Promise<string> =>
    page.evaluate(`(() => {
      const field = document.querySelector("[role=combobox]");
      const option = document.getElementById(field.getAttribute("aria-activedescendant"));
      const list = document.getElementById(field.getAttribute("aria-controls"));
      return list.contains(option) && option.ariaSelected === "true" ? option.firstChild.innerText : "";
    })()`);
  await page.getByRole("option", { name: "Viðtal um hlaupið í Skeiðará" }).first().waitFor();
  assert.equal(await active(), "Ný uppskrift");
  await page.keyboard.press("ArrowDown");
  assert.equal(await active(), "Leita í uppskriftum");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await until(async () => (await active()) === "Viðtal um hlaupið í Skeiðará");
  await page.setViewportSize({ width: 320, height: 480 });
  await checkPage(page);
  await checkLooks(page, "palette", someLooks);
  await show(page, icelandic);
  await field.fill("ekkert slíkt x");
  await page.getByRole("option", { name: "Leita að „ekkert slíkt x“ í titlum" }).waitFor();
  assert.deepEqual(await palette(page).getByRole("option").allInnerTexts(), [
    "Leita að „ekkert slíkt x“ í titlum",
  ]);
  await field.fill("skeidara");
  await page.getByRole("option", { name: "Viðtal um hlaupið í Skeiðará" }).first().waitFor();
  await until(async () => (await active()) === "Viðtal um hlaupið í Skeiðará");
  await page.keyboard.press("Enter");
  await heading(page, "Viðtal um hlaupið í Skeiðará").waitFor();
  await palette(page).waitFor({ state: "detached" });
  await page.locator("h1:focus").waitFor();
});

test("the palette runs actions, returns the focus, and is opened by a button", async () => {
  await using page = await pages.open("/usage");
  await heading(page, "Notkun").waitFor();
  const button = page.getByRole("button", { name: "Skipanir" });
  await button.click();
  await palette(page).waitFor();
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "detached" });
  await page.locator(".foot button:focus").getByText("Skipanir").waitFor();
  await openPalette(page);
  await page.getByRole("option", { name: "Dökkt útlit" }).click();
  await page.locator("html[data-theme=dark]").waitFor();
  await openPalette(page);
  await page.keyboard.type("english");
  await page.keyboard.press("Enter");
  await page.locator("html[lang=en]").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Commands" }).waitFor();
  await page.keyboard.type("webho");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new tr");
  await page.keyboard.press("Enter");
  await until(() => Promise.resolve(pathOf(page) === "/jobs"));
});
