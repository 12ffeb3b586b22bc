// The page for operators: nodes, queues and accounts of the whole service.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { Page } from "playwright-core";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { builtinModelsFolder } from "../../src/models/models-folder.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount } from "../fixtures/auth-fixture.ts";
import { catalogueText, serveDownloads, testCard } from "../fixtures/model-fixture.ts";
import { until } from "../fixtures/until.ts";
import { noteSecret } from "../spec/secrets.ts";
import { checkDialog } from "./check-dialog.ts";
import { checkPage, checkShift } from "./check-page.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, type TestPages } from "./open-test-pages.ts";

const icelandic = { size: "desktop", language: "is", theme: "light" } as const;
const starter = join(builtinModelsFolder, "is-IS-starter");
const starterFiles = ["model.onnx", "tokens.txt", "words.txt"];
const parts = new AsyncDisposableStack();
let catalogue: string;
let pages: TestPages;
let page: Page;
let db: Kysely<Tables>;
before(async () => {
  // The files of the starter model, and a download that sends half of a file, and then nothing.
  const server = parts.use(
    await serveDownloads(({ url = "" }, response) => {
      if (starterFiles.includes(url.slice(1))) {
        response.end(readFileSync(join(starter, url.slice(1))));
        return;
      }
      response.writeHead(200, { "content-length": 2_000_000 });
      response.write(Buffer.alloc(1_000_000));
    }),
  );
  catalogue = mkdtempSync(join(tmpdir(), "hlust-catalogue-"));
  const downloads = [{ url: `${server.url}/it`, bytes: 2_000_000, unpack: "tar.bz2" as const }];
  const file = join(catalogue, "catalogue.json");
  const copied = {
    card: { ...JSON.parse(readFileSync(join(starter, "model.json"), "utf8")), name: "copy" },
    downloads: starterFiles.map((to) => {
      return { url: `${server.url}/${to}`, to, bytes: readFileSync(join(starter, to)).length };
    }),
  };
  writeFileSync(file, catalogueText({ card: testCard("english-small"), downloads }, copied));
  pages = parts.use(await openTestPages({ HLUST_ROLE: "api", HLUST_CATALOGUE: file }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  const accountId = await addAccount(db);
  await db
    .updateTable("account")
    .set({ display_name: "Útvarpið" })
    .where("id", "=", accountId)
    .execute();
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  const job = { metadata, useUri: true, uri: "http://127.0.0.1:9/a.wav" };
  for (let at = 0; at < 3; at += 1) {
    const { status } = await pages.service.call("POST", "/v1alpha1/transcriptjob:submit", job);
    assert.equal(status, 200);
  }
  await db
    .updateTable("transcript_job")
    .set({
      state: "ERROR",
      error: JSON.stringify({ details: [{ reason: "MEDIA_NOT_FOUND" }] }),
    })
    .where("id", "=", db.selectFrom("transcript_job").select("id").orderBy("id").limit(1))
    .execute();
});
after(async () => {
  await parts.disposeAsync();
  rmSync(catalogue, { recursive: true, force: true });
});

/** Returns the texts of the cells of a row, by the text of its first cell. */
async function rowOf(name: string, first: string | RegExp): Promise<string[]> {
  const row = page
    .getByRole("region", { name, exact: true })
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name: first }) });
  return await row.first().locator("th, td").allInnerTexts();
}

const account = (name: string) =>
  page
    .getByRole("list", { name: "Reikningar" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name }) });

test("the menu leads operators to the page, and shows it to no one else", async () => {
  const reader = await pages.service.call("POST", "/v1/apiKeys", { scopes: ["account"] });
  noteSecret(reader.json.secret, "credential");
  await using other = await pages.open("/usage", { key: reader.json.secret });
  await other.getByRole("link", { name: "Vefkrókar", exact: true }).waitFor();
  assert.equal(await other.getByRole("link", { name: "Rekstur" }).count(), 0);
  await other.goto(`${pages.service.address}/console/operator`);
  await other.getByRole("heading", { name: "Þessi síða er fyrir rekstraraðila" }).waitFor();
  await checkPage(other);

  page = await pages.open("/usage");
  await page.getByRole("link", { name: "Rekstur", exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Rekstur" }).waitFor();
});

test("nodes and their models, queues, failures and jobs by account are shown, and follow changes", async () => {
  await page.getByRole("region", { name: "Hnútar", exact: true }).waitFor();
  await until(async () => (await rowOf("Hnútar", /./))[1] === "Í lagi");
  const [, , role, version, , streams] = await rowOf("Hnútar", /./);
  assert.deepEqual([role, streams], ["api", "0"]);
  assert.match(version ?? "", /^\d+\.\d+/);
  const model = await rowOf("Líkön í vinnslu", "scripted");
  assert.deepEqual([model[1], model[5]], ["Í notkun", "1 af 1"]);
  const waiting = await rowOf("Raðir", "Uppskriftarverk");
  assert.deepEqual(waiting.slice(0, 4), ["Uppskriftarverk", "2", "0", "0"]);
  assert.notEqual(waiting[4], "–");
  const failures = "Verk síðasta sólarhrings sem mistókust";
  assert.deepEqual(await rowOf(failures, "MEDIA_NOT_FOUND"), [
    "MEDIA_NOT_FOUND",
    "Uppskriftarverk",
    "1",
  ]);
  assert.deepEqual(await rowOf("Verk eftir reikningum", "First account"), [
    "First account",
    "2",
    "0",
    "1",
  ]);
  await db.deleteFrom("transcript_job").where("state", "=", "PROCESSING").execute();
  await until(async () => (await rowOf("Raðir", "Uppskriftarverk"))[1] === "0");
});

test("the page is updated only while it is visible", async () => {
  await using watched = await pages.open("/operator");
  expectProblems(watched, /^404 GET \/livez$/);
  await watched.clock.install();
  await watched.reload();
  let count = 0;
  watched.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith("/operator/nodes")) count += 1;
  });
  await watched.getByRole("region", { name: "Hnútar", exact: true }).waitFor();
  const seen = count;
  await until(async () => {
    await watched.clock.fastForward(6_000);
    return count > seen;
  });
  const setVisible = async (state: string) =>
    await watched.evaluate(`
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
      document.dispatchEvent(new Event("visibilitychange"))`);
  await setVisible("hidden");
  await watched.waitForLoadState("networkidle");
  const before = count;
  await watched.clock.fastForward(60_000);
  // The page's own requests would come before this one.
  await watched.evaluate(`fetch("/livez").then(({ status }) => status)`);
  assert.equal(count, before);
  await setVisible("visible");
  await until(async () => {
    await watched.clock.fastForward(6_000);
    return count > before;
  });
});

test("limits are changed, and a wrong one is explained", async () => {
  await account("Útvarpið").getByRole("button", { name: "Breyta mörkum: Útvarpið" }).click();
  const dialog = page.getByRole("dialog", { name: "Breyta mörkum: Útvarpið" });
  await dialog.getByLabel("Opin streymi").fill("fjögur");
  await dialog.getByRole("button", { name: "Vista" }).click();
  await dialog.getByText("Skrifaðu heila tölu, eða ekkert.").waitFor();
  await checkPage(page);
  await dialog.getByLabel("Opin streymi").fill("4");
  await dialog.getByLabel("Geymd bæti").fill("5000000000");
  await dialog.getByRole("button", { name: "Vista" }).click();
  await dialog.waitFor({ state: "hidden" });
  await account("Útvarpið").getByText("0 af 4").waitFor();
  await account("Útvarpið").getByText("af 5,0 GB").waitFor();
  const toast = page.locator(".toast", { hasText: "Mörkum breytt: Útvarpið" });
  await toast.getByRole("button", { name: "Taka aftur" }).press("Enter");
  await account("Útvarpið").getByText("0 af 4").waitFor({ state: "detached" });
  await account("Útvarpið").getByRole("button", { name: "Breyta mörkum: Útvarpið" }).click();
  await dialog.getByLabel("Opin streymi").fill("4");
  await dialog.getByLabel("Geymd bæti").fill("5000000000");
  await dialog.getByRole("button", { name: "Vista" }).click();
  await account("Útvarpið").getByText("0 af 4").waitFor();
  await account("Útvarpið").getByRole("button", { name: "Breyta mörkum: Útvarpið" }).click();
  assert.equal(await dialog.getByLabel("Opin streymi").inputValue(), "4");
  await dialog.getByLabel("Opin streymi").fill("");
  await dialog.getByRole("button", { name: "Vista" }).click();
  await dialog.waitFor({ state: "hidden" });
  const { limits } = await db
    .selectFrom("account")
    .select("limits")
    .where("display_name", "=", "Útvarpið")
    .executeTakeFirstOrThrow();
  assert.deepEqual(limits, { storedBytes: 5_000_000_000 });
});

test("an account is disabled after a question, and enabled again; one's own cannot be", async () => {
  assert.equal(await account("First account").getByRole("button", { name: /^Loka/ }).count(), 0);
  await account("Útvarpið").getByRole("button", { name: "Loka reikningi: Útvarpið" }).click();
  const dialog = page.getByRole("dialog", { name: "Loka reikningnum Útvarpið?" });
  await dialog.getByText("Gögnin eru geymd", { exact: false }).waitFor();
  await checkPage(page);
  await checkDialog(page);
  await dialog.getByRole("button", { name: "Loka reikningi" }).click();
  await dialog.waitFor({ state: "hidden" });
  await account("Útvarpið").getByText("Lokaður").waitFor();
  const disabledAt = async () => {
    const row = db.selectFrom("account").select("disabled_at");
    return (await row.where("display_name", "=", "Útvarpið").executeTakeFirstOrThrow()).disabled_at;
  };
  assert.notEqual(await disabledAt(), null);
  const toast = page.locator(".toast", { hasText: "Reikningi lokað: Útvarpið" });
  await toast.getByRole("button", { name: "Taka aftur" }).click();
  await account("Útvarpið").getByRole("button", { name: "Loka reikningi: Útvarpið" }).click();
  await dialog.getByRole("button", { name: "Loka reikningi" }).click();
  await account("Útvarpið").getByRole("button", { name: "Opna aftur: Útvarpið" }).click();
  await page.locator(".toast", { hasText: "Reikningur opnaður: Útvarpið" }).waitFor();
  await account("Útvarpið").getByRole("button", { name: "Loka reikningi: Útvarpið" }).waitFor();
  assert.equal(await disabledAt(), null);
});

test("a model is pulled with its progress until that is cancelled, and another one is tested", async () => {
  const tasks = page.getByRole("list", { name: "Aðgerðir á líkönum" }).getByRole("listitem");
  await page.getByLabel("Líkan", { exact: true }).selectOption("english-small");
  await page.getByRole("button", { name: "Sækja", exact: true }).click();
  await tasks.getByText("1,0 MB af 2,0 MB").waitFor();
  await page.reload();
  await tasks.getByText("1,0 MB af 2,0 MB").waitFor();
  await checkPage(page);
  await tasks.getByRole("button", { name: "Hætta við: english-small" }).click();
  await tasks.getByText("Hætt við", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Prófa is-IS-starter" }).click();
  const tested = tasks.filter({ has: page.getByRole("heading", { name: "Prófa: is-IS-starter" }) });
  await tested.getByText(/“ \d+,\d sek. af hljóði á \d+,\d sek\./).waitFor({ timeout: 90_000 });
  assert.equal(await page.getByRole("button", { name: "Fjarlægja is-IS-starter" }).count(), 0);
});

test("a model is pulled to its end, and removed after a question", async () => {
  const tasks = page.getByRole("list", { name: "Aðgerðir á líkönum" }).getByRole("listitem");
  const ended = (task: string) =>
    tasks
      .filter({ has: page.getByRole("heading", { name: task }) })
      .getByText("Lokið", { exact: true })
      .waitFor({ timeout: 90_000 });
  await page.getByLabel("Líkan", { exact: true }).selectOption("copy");
  await page.getByRole("button", { name: "Sækja", exact: true }).click();
  await ended("Sækja: copy");
  const installed = join(pages.service.dataFolder, "models/copy/model.onnx");
  assert.ok(existsSync(installed));
  const remove = page.getByRole("button", { name: "Fjarlægja copy" });
  await remove.click();
  const dialog = page.getByRole("dialog", { name: /^Fjarlægja copy af \S+\?$/ });
  await dialog.getByText("Skrám líkansins er eytt", { exact: false }).waitFor();
  await checkPage(page);
  await checkDialog(page);
  await dialog.getByRole("button", { name: "Fjarlægja", exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
  await ended("Fjarlægja: copy");
  assert.equal(existsSync(installed), false);
  await remove.waitFor({ state: "hidden" });
});

test("the page is accessible, fits every window and does not shift", async () => {
  await checkPage(page);
  await checkLooks(page, "operator");
  await show(page, icelandic);
  const shown = async () => {
    await page.getByRole("region", { name: "Raðir", exact: true }).waitFor();
    await account("Útvarpið").waitFor();
  };
  await checkShift(page, shown);
});
