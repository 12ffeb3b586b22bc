// A live recording is stored in the browser while it grows. It survives a reload and a crash of the
// page, and is gone as soon as it was saved or discarded.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { readWavHeader } from "../../src/std/wav.ts";
import { until } from "../fixtures/until.ts";
import { checkDialog } from "./check-dialog.ts";
import { createFakeMicrophone } from "./fake-microphone.ts";
import { checkLooks, openTestPages, show, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
before(async () => {
  const microphone = parts.use(createFakeMicrophone());
  pages = parts.use(await openTestPages({}, microphone.args, "full"));
});
after(() => parts.disposeAsync());

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const left = (page: Page) => page.locator(".note").filter({ hasText: "Óvistuð upptaka frá" });
const live = () => `${pages.service.address}/console/live`;

async function speak(seconds: number): Promise<Page> {
  const page = await pages.open("/live", { context: { permissions: ["microphone"] } });
  page.setDefaultTimeout(20_000);
  await press(page, "Hlusta");
  await page.locator(".live-text").filter({ hasText: "word1" }).waitFor();
  await until(async () => (await recorded(page)) >= seconds);
  return page;
}

/** Returns the seconds that have been recorded. */
async function recorded(page: Page): Promise<number> {
  const [minutes, seconds] = (await page.locator(".live-facts").innerText()).split(/[:\s]/);
  return 60 * Number(minutes) + Number(seconds);
}

/** Opens the recording that was left, saves it, and returns the seconds of its audio. */
async function openAndSave(page: Page): Promise<number> {
  await press(page, "Opna upptökuna");
  await page.locator(".live-status").getByText("Hlé").waitFor();
  await page.locator(".live-text").filter({ hasText: "word1" }).waitFor();
  await press(page, "Vista sem uppskrift");
  await press(page, "Vista");
  await page.waitForURL(/\/transcripts\//);
  const name = new URL(page.url()).pathname.replace("/console/", "");
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const header = readWavHeader(Buffer.from(await (await fetch(json.uri)).arrayBuffer()));
  assert.ok(header);
  // The page says how it was made, without the console's own ids.
  await page.getByText("Tekið upp í vafra").waitFor();
  assert.equal(await page.getByText("console.recording").count(), 0);
  return header.dataBytes / 2 / header.sampleRateHertz;
}

/** Checks that no recording is offered. Its absence is shown once the browser has been asked. */
async function assertNoneLeft(page: Page): Promise<void> {
  await page.goto(live());
  await page.getByRole("button", { name: "Hlusta" }).waitFor();
  const stored = `(async () => {
    const all = await indexedDB.databases();
    if (!all.some(({ name }) => name === "hlust-recordings")) return 0;
    const database = await new Promise((resolve, reject) => {
      const request = indexedDB.open("hlust-recordings");
      request.onsuccess = () => resolve(request.result);
      request.onerror = reject;
    });
    const counts = [...database.objectStoreNames].map((name) => new Promise((resolve) => {
      const request = database.transaction(name).objectStore(name).count();
      request.onsuccess = () => resolve(request.result);
    }));
    const sum = (await Promise.all(counts)).reduce((all, one) => all + one, 0);
    database.close();
    return sum;
  })()`;
  await until(async () => (await page.evaluate(stored)) === 0);
  assert.equal(await left(page).count(), 0);
}

test("a reload while speaking loses nothing that is older than a second, and the recording goes on", async () => {
  await using page = await speak(3);
  const before = await recorded(page);
  await page.reload();
  await left(page).waitFor();
  await checkLooks(page, "live-left", [{ size: "phone", language: "en", theme: "dark" }]);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await press(page, "Opna upptökuna");
  await page.locator(".live-text").filter({ hasText: "word1" }).waitFor();
  assert.ok((await recorded(page)) >= before - 1);
  await press(page, "Halda áfram");
  await until(async () => (await recorded(page)) >= before + 2);
  await press(page, "Stöðva");
  // It can be left and opened again.
  await page.locator(".live-status").getByText("Hlé").waitFor();
  const whole = await recorded(page);
  await page.reload();
  await left(page).waitFor();
  const saved = await openAndSave(page);
  assert.ok(saved >= whole, `${saved} s of ${whole} s`);
  await assertNoneLeft(page);
});

test("a crash of the page loses a second at most", async () => {
  await using page = await speak(3);
  const before = await recorded(page);
  const crashed = page.waitForEvent("crash");
  const session = await page.context().newCDPSession(page);
  session.send("Page.crash").catch(() => {});
  await crashed;
  await using next = await page.context().newPage();
  await next.goto(live());
  await left(next).waitFor();
  const saved = await openAndSave(next);
  assert.ok(saved >= before - 1, `${saved} s of ${before} s`);
  await assertNoneLeft(next);
});

test("another tab does not offer a recording until its own tab has ended", async () => {
  await using page = await speak(2);
  await using other = await page.context().newPage();
  await other.goto(live());
  await other.getByRole("button", { name: "Hlusta" }).waitFor();
  // The other tab waits for the lock of the recording.
  const waiting = `navigator.locks.query().then(({ pending }) =>
    pending.filter(({ name }) => name.startsWith("hlust.unsaved recording")).length)`;
  await until(async () => (await other.evaluate(waiting)) === 1);
  assert.equal(await left(other).count(), 0);
  await page.close();
  await left(other).waitFor();
  await other.getByRole("button", { name: "Farga henni" }).click();
  await other.getByRole("dialog").getByRole("button", { name: "Farga upptökunni" }).click();
  await left(other).waitFor({ state: "detached" });
  await assertNoneLeft(other);
});

test("a recording that was discarded is gone, even if the page is left in the same moment", async () => {
  await using page = await speak(2);
  await press(page, "Stöðva");
  await press(page, "Byrja upp á nýtt");
  await page.getByRole("dialog").getByRole("button", { name: "Farga upptökunni" }).waitFor();
  await checkDialog(page);
  await Promise.all([
    page.waitForURL(/console\/keys$/),
    page.evaluate(`{
      const button = [...document.querySelectorAll("[role=dialog] button")]
        .find(({ textContent }) => textContent === "Farga upptökunni");
      button.click();
      location.assign("/console/keys");
    }`),
  ]);
  await assertNoneLeft(page);
});

test("signing out of a page that was reloaded asks about the recording, and deletes it", async () => {
  await using page = await speak(2);
  await page.reload();
  await left(page).waitFor();
  await press(page, "Skrá út");
  await page.getByText("Útskráning fjarlægir 1 óvistaða upptöku.").waitFor();
  await press(page, "Henda þessu og skrá út");
  const key = page.getByLabel("API-lykill", { exact: true });
  await key.waitFor();
  assert.equal(await page.evaluate("indexedDB.databases().then((all) => all.length)"), 0);
});
