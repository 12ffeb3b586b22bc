// Signing out while a live recording or an upload is not saved: the page asks before anything ends,
// in whichever tab of the browser the work is.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { checkDialog } from "./check-dialog.ts";
import { draftsIn, placeCaret } from "./edited-page.ts";
import { createInterview } from "./edited-transcript.ts";
import { createFakeMicrophone } from "./fake-microphone.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
before(async () => {
  const microphone = parts.use(createFakeMicrophone());
  pages = parts.use(await openTestPages({}, microphone.args, "full"));
});
after(() => parts.disposeAsync());

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const question = (page: Page) => page.getByRole("dialog", { name: "Óvistuð vinna" });
const keyField = (page: Page) => page.getByLabel("API-lykill", { exact: true });
const english = { size: "desktop", language: "en", theme: "light" } as const;
const icelandic = { size: "desktop", language: "is", theme: "light" } as const;

async function openLive(): Promise<Page> {
  const page = await pages.open("/live", { context: { permissions: ["microphone"] } });
  page.setDefaultTimeout(60_000);
  await press(page, "Hlusta");
  await page.locator(".live-text").filter({ hasText: "word1" }).waitFor();
  return page;
}

/** Returns the seconds that have been recorded. */
async function recorded(page: Page): Promise<number> {
  const [minutes, seconds] = (await page.locator(".live-facts").innerText()).split(/[:\s]/);
  return 60 * Number(minutes) + Number(seconds);
}

async function sessionStatus(page: Page): Promise<number> {
  return await page.evaluate(
    `fetch("/console/settings", { headers: { "x-hlust-console": "1" } }).then(({ status }) => status)`,
  );
}

test("a live recording goes on while signing out is asked about, and after the answer to stay", async () => {
  await using page = await openLive();
  expectProblems(page, /^401 GET \/console\/settings$/);
  await press(page, "Skrá út");
  await question(page).getByText("Útskráning fjarlægir 1 óvistaða upptöku.").waitFor();
  await checkLooks(page, "sign-out-live", [english]);
  await show(page, icelandic);
  const before = await recorded(page);
  await press(page, "Vera áfram");
  await question(page).waitFor({ state: "detached" });
  await until(async () => (await recorded(page)) > before);
  await page.locator(".live-status").getByText("Hlustar").waitFor();
  assert.equal(await sessionStatus(page), 200);
  // Escape answers the question, and does not stop the recording.
  await press(page, "Skrá út");
  await question(page).waitFor();
  await page.keyboard.press("Escape");
  await question(page).waitFor({ state: "detached" });
  const later = await recorded(page);
  await until(async () => (await recorded(page)) > later);
  // A stopped recording is not saved either.
  await press(page, "Stöðva");
  await page.locator(".live-status").getByText("Hlé").waitFor();
  await press(page, "Skrá út");
  await press(page, "Henda þessu og skrá út");
  await keyField(page).waitFor();
  assert.equal(await sessionStatus(page), 401);
});

test("a recording, an upload and a draft in three tabs are all named, and all stay after the answer to stay", async () => {
  const name = await createInterview(pages.service);
  await using page = await openLive();
  await using uploading = await page.context().newPage();
  await uploading.goto(`${pages.service.address}/console/jobs?new`);
  const buffer = wavOf(new Int16Array(960_000));
  const file = { name: "Eitt.wav", mimeType: "audio/wav", buffer };
  await uploading.locator(".new-job input[type=file]").setInputFiles(file);
  const released = Promise.withResolvers<void>();
  await uploading.route(/\/v1alpha1\/uploads\//, async (route) => {
    await released.promise;
    await route.continue();
  });
  await press(uploading, "Skrifa upp");
  await uploading.getByRole("list", { name: "Skrár í sendingu" }).waitFor();
  await using editing = await page.context().newPage();
  await editing.goto(`${pages.service.address}/console/${name}`);
  await editing.locator(".segment").nth(3).waitFor();
  await editing.keyboard.press("e");
  const text = editing.getByRole("textbox", { name: "Textinn, í vinnslu" });
  await text.waitFor();
  await placeCaret(editing, 0, 0);
  await editing.keyboard.type("Óvistað. ");
  await editing.getByText("drög geymd hér").waitFor();
  // The tab of the recording asks about the work of all tabs.
  await press(page, "Skrá út");
  const asked = page.getByRole("dialog", { name: "Óvistaðar breytingar" });
  const works = "Útskráning fjarlægir 1 óvistaða upptöku og 1 skrá sem er á leiðinni.";
  await asked.getByText(works).waitFor();
  await asked.getByText("Breytingar á 1 texta hafa ekki verið vistaðar sem útgáfa.").waitFor();
  for (const link of ["Opna Beint til að vista upptökuna", "Sjá skrárnar sem verið er að senda"]) {
    await asked.getByRole("link", { name: link }).waitFor();
  }
  await asked.getByRole("link", { name: "Opna texta 1 til að vista" }).waitFor();
  await checkDialog(page);
  const before = await recorded(page);
  await press(page, "Vera áfram");
  await asked.waitFor({ state: "detached" });
  // All goes on: the recording, the upload and the draft.
  await until(async () => (await recorded(page)) > before);
  assert.equal(await sessionStatus(page), 200);
  assert.ok((await text.innerText()).includes("Óvistað. "));
  released.resolve();
  const jobs = uploading.getByRole("list", { name: "Verk, þau nýjustu efst" });
  await jobs.getByRole("link", { name: "Eitt" }).waitFor();
  assert.ok((await draftsIn(editing)).includes("Óvistað"));
  await press(page, "Stöðva");
});

test("another tab asks about the recording, and not after it was discarded", async () => {
  await using page = await openLive();
  await using other = await page.context().newPage();
  await other.goto(`${pages.service.address}/console/keys`);
  await press(other, "Skrá út");
  await question(other).getByText("Útskráning fjarlægir 1 óvistaða upptöku.").waitFor();
  await press(other, "Vera áfram");
  await page.locator(".live-status").getByText("Hlustar").waitFor();
  await press(page, "Stöðva");
  await press(page, "Byrja upp á nýtt");
  await page.getByRole("dialog").getByRole("button", { name: "Farga upptökunni" }).click();
  await page.getByRole("button", { name: "Hlusta" }).waitFor();
  await press(other, "Skrá út");
  await keyField(other).waitFor();
  await keyField(page).waitFor();
});

test("uploads that are not finished are asked about, and continue after the answer to stay", async () => {
  await using page = await pages.open("/jobs?new");
  const buffer = wavOf(new Int16Array(960_000));
  const files = ["Eitt.wav", "Tvö.wav"].map((name) => ({ name, mimeType: "audio/wav", buffer }));
  await page.locator(".new-job input[type=file]").setInputFiles(files);
  // The uploads wait at the service until the test lets them continue.
  const released = Promise.withResolvers<void>();
  await page.route(/\/v1alpha1\/uploads\//, async (route) => {
    await released.promise;
    await route.continue();
  });
  await press(page, "Skrifa upp");
  await page.getByRole("list", { name: "Skrár í sendingu" }).waitFor();
  await press(page, "Skrá út");
  const text = "Útskráning fjarlægir 2 skrár sem eru á leiðinni.";
  await question(page).getByText(text).waitFor();
  await press(page, "Vera áfram");
  released.resolve();
  const list = page.getByRole("list", { name: "Verk, þau nýjustu efst" });
  for (const name of ["Eitt", "Tvö"]) await list.getByRole("link", { name }).waitFor();
  await press(page, "Skrá út");
  await keyField(page).waitFor();
});
