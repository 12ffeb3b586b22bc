// Files that become jobs. They are chosen or dropped, and uploaded with a progress display, while
// the network fails or other pages are open.
import assert from "node:assert/strict";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { openCuttingProxy } from "../fixtures/cutting-proxy.ts";
import { speak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

let pages: TestPages;
const bytesMax = 2_000_000;
const speech = speak("good morning to all of you");
/** A minute of silence, which is nearly the maximum size and quick to recognize. */
const long = wavOf(new Int16Array(960_000));

before(async () => {
  pages = await openTestPages({ HLUST_UPLOAD_BYTES_MAX: `${bytesMax}` });
});
after(() => pages[Symbol.asyncDispose]());

const desktop = { size: "desktop", language: "is", theme: "light" } as const;

function listed(page: Page, list: string, subject: string): Locator {
  return page.getByRole("list", { name: list }).getByRole("listitem").filter({ hasText: subject });
}
const sentRow = (page: Page, subject: string) => listed(page, "Skrár í sendingu", subject);
const jobRow = (page: Page, subject: string) => listed(page, "Verk, þau nýjustu efst", subject);
const title = (page: Page) => page.getByRole("textbox", { name: "Titill" });

async function choose(page: Page, ...files: { name: string; buffer: Buffer }[]): Promise<void> {
  const input = page.locator(".new-job input[type=file]");
  await input.setInputFiles(files.map((file) => ({ ...file, mimeType: "" })));
}

async function send(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Skrifa upp" }).click();
}

/** Drags a file over the page or drops it. */
async function drag(page: Page, type: "dragover" | "drop", name: string, bytes: Buffer) {
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    const bytes = Uint8Array.from(atob("${bytes.toString("base64")}"), (char) => char.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}, { type: "audio/wav" }));
    const init = { dataTransfer, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new DragEvent("${type}", init));
  })()`);
}

/** The network of a page. `uploadThroughput` is in bytes per second; -1 means no limit. */
type Network = { readonly offline: boolean; readonly uploadThroughput: number };

async function throttle(page: Page): Promise<(network: Network) => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const rest = { latency: 0, downloadThroughput: -1 };
  return (network) => session.send("Network.emulateNetworkConditions", { ...network, ...rest });
}
const fast: Network = { offline: false, uploadThroughput: -1 };
/** The long file takes a minute and a half to upload. */
const slow: Network = { offline: false, uploadThroughput: 20_000 };

test("files chosen with only the keyboard become jobs with their own titles", async () => {
  await using page = await pages.open("/jobs");
  const errors = errorsOf(page);
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Velja skrár" }).focus();
  await page.keyboard.press("Enter");
  await (
    await chooser
  ).setFiles([
    { name: "viðtal_við_Þórð.wav", mimeType: "audio/wav", buffer: speech },
    { name: "Öræfi 2.WAV", mimeType: "", buffer: speech },
  ]);
  assert.equal(await title(page).first().inputValue(), "viðtal við Þórð");
  await title(page).nth(1).fill("Öræfajökull, annar hluti");
  // One of several files is in another language.
  const languages = page.getByRole("combobox", { name: /^Mál í/ });
  assert.equal(await languages.count(), 2);
  await page.getByRole("combobox", { name: "Mál í Öræfi 2.WAV" }).selectOption("Enska");
  await checkLooks(page, "jobs-form-files", someLooks);
  await show(page, desktop);
  await title(page).nth(1).press("Enter");
  for (const subject of ["viðtal við Þórð", "Öræfajökull, annar hluti"]) {
    await jobRow(page, subject).getByRole("link", { name: subject }).waitFor();
  }
  const { json } = await pages.service.call("GET", "/v1alpha1/transcripts");
  const codes = new Map<string, string>();
  for (const { metadata } of json.transcripts) {
    assert.equal(metadata.dataSource, "UPLOAD");
    codes.set(metadata.subject, metadata.languageCode);
  }
  assert.deepEqual(Object.fromEntries(codes), {
    "viðtal við Þórð": "is-IS",
    "Öræfajökull, annar hluti": "en-US",
  });
  assert.deepEqual(errors, []);
  // The page of the transcript names the file, not where the service keeps it.
  await jobRow(page, "viðtal við Þórð").getByRole("link", { name: "viðtal við Þórð" }).click();
  const details = page.locator("dl.details");
  await details.getByText("viðtal_við_Þórð.wav").waitFor();
  assert.deepEqual(await details.locator("dd").allInnerTexts(), [
    "Skrá sem var hlaðið upp",
    "viðtal_við_Þórð.wav",
  ]);
});

/** Collects what the browser reports in its console, such as each refused call. */
function errorsOf(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return errors;
}

test("a file dropped anywhere on any page is added to the form", async () => {
  await using page = await pages.open("/keys");
  await page.getByRole("heading", { level: 1, name: "Lyklar" }).waitFor();
  await drag(page, "dragover", "fundur.wav", speech);
  await page.getByText("Slepptu").waitFor();
  await drag(page, "drop", "fundur.wav", speech);
  await title(page).waitFor();
  assert.equal(await title(page).inputValue(), "fundur");
  await send(page);
  await jobRow(page, "fundur").getByRole("link").waitFor();
});

test("files that are not recordings or are too large are refused before they are sent", async () => {
  await using page = await pages.open("/jobs?new");
  expectProblems(page, /^400 POST .*transcriptjob:submit$/);
  const parts: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "PATCH") parts.push(request.url());
  });
  await choose(
    page,
    { name: "vefur.html", buffer: Buffer.from("<html></html>") },
    { name: "tóm.mp3", buffer: Buffer.alloc(0) },
    { name: "of löng.wav", buffer: wavOf(new Int16Array(bytesMax / 2)) },
    { name: "í lagi.wav", buffer: speech },
  );
  await page.getByText("Skráin er tóm. Fjarlægðu hana og veldu aðra.").waitFor();
  await title(page).nth(3).fill("þ".repeat(1001));
  await send(page);
  await page.getByText("Skráin er of stór: þjónustan tekur mest við 2,0 MB.").waitFor();
  await page.getByText("Þetta er ekki upptaka.").waitFor();
  await page.getByText("1.001 stafur; mest 1.000 komast fyrir.").waitFor();
  await checkLooks(page, "jobs-files");
  await show(page, desktop);
  assert.deepEqual(parts, []);
  for (const name of ["vefur.html", "tóm.mp3", "of löng.wav"]) {
    await page.getByRole("button", { name: `Fjarlægja ${name}` }).click();
  }
  await title(page).fill("Í lagi");
  await choose(page, { name: "Dulbúin vefsíða.mp3", buffer: Buffer.from("<!doctype html><html>") });
  await send(page);
  await jobRow(page, "Í lagi").getByRole("link").waitFor();
  await jobRow(page, "Dulbúin vefsíða").getByText("heldur vefsíða").waitFor();
  assert.equal(parts.length, 2);
});

test("an upload's progress is shown on every page, and the browser asks for confirmation before the user leaves", async () => {
  await using page = await pages.open("/jobs?new");
  await choose(page, { name: "Löng þögn.wav", buffer: long }, { name: "Næst.wav", buffer: speech });
  const setNetwork = await throttle(page);
  await setNetwork(slow);
  await send(page);
  const line = sentRow(page, "Löng þögn").getByRole("progressbar");
  const seen: number[] = [];
  await until(async () => {
    const percent = Number(await line.getAttribute("value"));
    if (percent > (seen.at(-1) ?? 0) && percent < 100) seen.push(percent);
    return seen.length >= 2;
  }, 60_000);
  await sentRow(page, "Löng þögn")
    .getByText(/B af 1,9 MB · \d.* á sek\. · .* eftir/)
    .waitFor();
  await sentRow(page, "Næst").getByText("Bíður eftir skránum á undan").waitFor();
  await checkLooks(page, "jobs-uploads", someLooks);
  await show(page, desktop);

  await page.getByRole("navigation").getByRole("link", { name: "Lyklar" }).click();
  await page.getByRole("link", { name: /Sendi 2 skrár: \d+ %/ }).click();
  const question = page.waitForEvent("dialog");
  const navigation = page.goto(`${pages.service.address}/console/keys`).catch(() => undefined);
  assert.equal((await question).type(), "beforeunload");
  await navigation;
});

test("a cancelled upload leaves nothing behind, and the next one starts", async () => {
  await using page = await pages.open("/jobs?new");
  await choose(
    page,
    { name: "Hætt við.wav", buffer: long },
    { name: "Þarnæst.wav", buffer: speech },
  );
  const setNetwork = await throttle(page);
  await setNetwork(slow);
  await send(page);
  const stopped = sentRow(page, "Hætt við");
  await until(
    async () => Number(await stopped.getByRole("progressbar").getAttribute("value")) > 0,
    60_000,
  );
  await stopped.getByRole("button", { name: "Hætta við: Hætt við" }).click();
  await setNetwork(fast);
  await jobRow(page, "Þarnæst").getByRole("link").waitFor();
  assert.equal(await jobRow(page, "Hætt við").count(), 0);
});

test("an upload waits while the network is lost, and resumes automatically", async () => {
  await using page = await pages.open("/jobs?new");
  expectProblems(page, /^409 PATCH .*uploads\//, /^net::ERR_INTERNET_DISCONNECTED/);
  await choose(page, { name: "Ferðalag um Strandir.wav", buffer: long });
  const setNetwork = await throttle(page);
  await setNetwork(slow);
  await send(page);
  const sent = sentRow(page, "Ferðalag um Strandir");
  const percent = async () => Number(await sent.getByRole("progressbar").getAttribute("value"));
  await until(async () => (await percent()) > 0, 60_000);
  await setNetwork({ ...slow, offline: true });
  await sent.getByText("Sambandið rofnaði. Skráin er hér enn").waitFor();
  await checkLooks(page, "jobs-offline", someLooks);
  await show(page, desktop);
  // The user tries again, without success.
  await sent.getByRole("button", { name: "Reyna núna" }).click();
  await sent.getByText("Sambandið rofnaði. Skráin er hér enn").waitFor();
  await setNetwork(fast);
  await jobRow(page, "Ferðalag um Strandir").getByRole("link").waitFor();
  const { json } = await pages.service.call("GET", "/v1alpha1/transcripts");
  assert.equal(json.transcripts[0].metadata.recordingDuration, "60s");
});

test("an upload over a line that breaks again and again continues after the bytes that arrived", async () => {
  using line = await openCuttingProxy(600_000);
  line.target = pages.service.address;
  await using page = await pages.open("/jobs?new", { address: line.address });
  expectProblems(page, /^409 PATCH .*uploads\//, /^net::ERR_/);
  await choose(page, { name: "Slæm lína.wav", buffer: long });
  await send(page);
  await jobRow(page, "Slæm lína")
    .getByRole("link")
    .waitFor({ timeout: 60_000 * cpuSlowness });
  const { json } = await pages.service.call("GET", "/v1alpha1/transcripts");
  assert.equal(json.transcripts[0].metadata.recordingDuration, "60s");
  assert.equal(json.transcripts[0].metadata.originalFilename, "Slæm lína.wav");
  // No connection has carried the whole file.
  assert.ok(line.cuts >= 3, `${line.cuts} breaks`);
});

/** Sends a file over a slow line, and reloads the page when the service has some of the file. */
async function interrupt(page: Page, path: string, subject: string): Promise<void> {
  const setNetwork = await throttle(page);
  await page.locator(".new-job input[type=file]").setInputFiles(path);
  await setNetwork(slow);
  await send(page);
  const line = sentRow(page, subject).getByRole("progressbar");
  await until(async () => Number(await line.getAttribute("value")) >= 10, 60_000);
  await page.reload();
  await setNetwork(fast);
}

test("an upload continues after the page was reloaded, when the same file is chosen again", async () => {
  await using page = await pages.open("/jobs?new");
  expectProblems(page, /^409 PATCH .*uploads\//);
  const path = join(pages.service.dataFolder, "Endurhlaðin.wav");
  writeFileSync(path, long);
  await interrupt(page, path, "Endurhlaðin");
  const interrupted = page.getByRole("list", { name: "Sendingar sem rofnuðu" });
  await interrupted.getByText("Endurhlaðin.wav").waitFor();
  await page.getByText("Veldu sömu skrá aftur").waitFor();
  await checkLooks(page, "jobs-interrupted", someLooks);
  await show(page, desktop);
  const requests: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (!request.url().includes("/v1alpha1/uploads")) return;
    requests.push(`${request.method()} ${request.headers()["upload-offset"]}`);
  });
  await page.locator(".new-job input[type=file]").setInputFiles(path);
  await send(page);
  await jobRow(page, "Endurhlaðin")
    .getByRole("link")
    .waitFor({ timeout: 60_000 * cpuSlowness });
  // The page asks how much the service has, and sends the rest.
  assert.equal(requests.length, 2, requests.join());
  assert.equal(requests[0], "PATCH 0");
  assert.match(requests[1] ?? "", /^PATCH [1-9]\d+$/);
  assert.equal(await interrupted.count(), 0);
  const { json } = await pages.service.call("GET", "/v1alpha1/transcripts");
  assert.equal(json.transcripts[0].metadata.recordingDuration, "60s");
});

test("another file of the same name begins at its start, and an interrupted upload can be discarded", async () => {
  await using page = await pages.open("/jobs?new");
  const path = join(pages.service.dataFolder, "Önnur.wav");
  writeFileSync(path, long);
  await interrupt(page, path, "Önnur");
  const interrupted = page.getByRole("list", { name: "Sendingar sem rofnuðu" });
  await interrupted.getByText("Önnur.wav").waitFor();
  utimesSync(path, new Date(), new Date(Date.now() - 60_000));
  const offset = page.waitForRequest((request) => request.method() === "PATCH");
  const begun = page.waitForRequest(/\/v1alpha1\/uploads$/);
  await page.locator(".new-job input[type=file]").setInputFiles(path);
  await send(page);
  await begun;
  assert.equal((await offset).headers()["upload-offset"], "0");
  await jobRow(page, "Önnur")
    .getByRole("link")
    .waitFor({ timeout: 60_000 * cpuSlowness });
  const deleted = page.waitForResponse((answer) => answer.request().method() === "DELETE");
  await interrupted.getByRole("button", { name: "Hætta við: Önnur.wav" }).click();
  assert.equal((await deleted).status(), 204);
  await interrupted.waitFor({ state: "detached" });
  await page.reload();
  await jobRow(page, "Önnur").getByRole("link").waitFor();
  assert.equal(await interrupted.count(), 0);
});

test("a lost response causes neither a second upload nor a second job", async () => {
  await using page = await pages.open("/jobs?new");
  expectProblems(page, /^409 PATCH .*uploads\//, /^net::ERR_CONNECTION_RESET/);
  const sizes: number[] = [];
  let submits = 0;
  // Each request reaches the service, but the first response does not reach the page.
  await page.route(/\/v1alpha1\/uploads\//, async (route) => {
    sizes.push(route.request().postDataBuffer()?.length ?? 0);
    const answer = await route.fetch();
    await (sizes.length === 1
      ? route.abort("connectionreset")
      : route.fulfill({ response: answer }));
  });
  await page.route(/transcriptjob:submit$/, async (route) => {
    const answer = await route.fetch();
    // The check before the upload makes no job.
    if (route.request().postDataJSON().validateOnly === true) {
      await route.fulfill({ response: answer });
      return;
    }
    submits += answer.ok() ? 1 : 0;
    const isFirst = answer.ok() && submits === 1;
    await (isFirst ? route.abort("connectionreset") : route.fulfill({ response: answer }));
  });
  await choose(page, { name: "Týnt svar.wav", buffer: speech });
  await send(page);
  await jobRow(page, "Týnt svar").getByRole("link").waitFor();
  // The list can show the job before the page has submitted it again.
  await until(async () => submits === 2);
  // The page asks the service how much it has, with a part that has no bytes.
  assert.deepEqual({ sizes, submits }, { sizes: [speech.length, 0], submits: 2 });
  assert.equal(await jobRow(page, "Týnt svar").count(), 1);
});

test("a file that was changed on the device after it was chosen is reported and not retried", async () => {
  await using page = await pages.open("/jobs?new");
  expectProblems(page, /^net::ERR_UPLOAD_FILE_CHANGED PATCH/);
  const path = join(pages.service.dataFolder, "Breytt.wav");
  writeFileSync(path, speech);
  await page.locator(".new-job input[type=file]").setInputFiles(path);
  writeFileSync(path, long);
  await send(page);
  await sentRow(page, "Breytt").getByText("Skránni var breytt").waitFor();
  await sentRow(page, "Breytt").getByRole("button", { name: "Fjarlægja: Breytt" }).click();
  await page.getByRole("list", { name: "Verk" }).waitFor();
  assert.equal(await sentRow(page, "Breytt").count(), 0);
});

test("an upload becomes a job if the session ends in the meantime and its owner signs in again", async () => {
  await using page = await pages.open("/jobs?new");
  expectProblems(page, /^401 POST .*transcriptjob:submit$/);
  await choose(page, { name: "Kvöldfréttir.wav", buffer: long });
  const setNetwork = await throttle(page);
  await setNetwork(slow);
  await send(page);
  const line = sentRow(page, "Kvöldfréttir").getByRole("progressbar");
  await until(async () => Number(await line.getAttribute("value")) > 0, 60_000);
  await page.context().clearCookies();
  await setNetwork(fast);
  const key = page.getByLabel("API-lykill", { exact: true });
  await key.fill(pages.service.key);
  await key.press("Enter");
  await jobRow(page, "Kvöldfréttir").getByRole("link").waitFor();
});
