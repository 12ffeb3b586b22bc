// The page of usage: by day, month, key and person, with calls of the console apart, and as CSV.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql, type Kysely } from "kysely";
import type { Page } from "playwright-core";
import { monthName, shortDate } from "../../src/console/text/dates.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { noteSecret } from "../spec/secrets.ts";
import { callRest } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import { checkPage, checkShift } from "./check-page.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, type TestPages } from "./open-test-pages.ts";

const icelandic = { size: "desktop", language: "is", theme: "light" } as const;
const parts = new AsyncDisposableStack();
let pages: TestPages;
let page: Page;
let db: Kysely<Tables>;
let accountId = "";
before(async () => {
  pages = parts.use(await openTestPages({ HLUST_ROLE: "api" }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  const { json } = await pages.service.call("GET", "/v1/account");
  accountId = json.name.slice("accounts/".length);
});
after(() => parts.disposeAsync());

const table = (name: string) => page.getByRole("region", { name }).getByRole("table");

/** Returns the texts of the cells of a row, by the text of its first cell. */
async function rowOf(name: string, first: string | RegExp): Promise<string[]> {
  const row = table(name)
    .getByRole("row")
    .filter({
      has: page.getByRole("rowheader", { name: first }),
    });
  return await row.first().locator("th, td").allInnerTexts();
}

async function download(name: string): Promise<{ name: string; lines: string[] }> {
  const press = page.getByRole("button", { name, exact: true }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), press]);
  const text = await readFile(await file.path(), "utf8");
  return { name: file.suggestedFilename(), lines: text.split("\r\n") };
}

/** Returns a month such as "2026-09". The use of keys and members is swept after 400 days. */
function monthsAgo(count: number): string {
  const now = new Date();
  const date = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1));
  return date.toISOString().slice(0, "2026-09".length);
}
const [month, monthBefore] = [monthsAgo(2), monthsAgo(3)];

/** Returns the name of a month in Icelandic, such as "september 2026". */
function named(text: string): string {
  return `${monthName("is", new Date(`${text}-01T12:00:00`))} ${text.slice(0, 4)}`;
}

/** Stores the use of the account, of one of its keys, or of a member, on a day. */
async function use(
  subject: string,
  day: string,
  calls: number,
  jobSeconds: number,
  memberId?: string,
): Promise<void> {
  await sql`
    insert into usage_day (subject_id, account_id, day, requests, job_ms, live_ms, member_id)
    values (${subject}, ${accountId}, ${day}, ${calls}, ${jobSeconds * 1000}, 60000, ${memberId ?? null})`.execute(
    db,
  );
}

test("the menu leads to the page of usage", async () => {
  page = await pages.open("/");
  await page.getByRole("link", { name: "Notkun", exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Notkun" }).waitFor();
  await page.getByText("Mörk", { exact: true }).waitFor();
  await until(() => page.evaluate<boolean>("document.activeElement?.tagName === 'H1'"));
});

test("use is shown by day, month, key and person, and the console's own calls apart", async () => {
  const made = await pages.service.call("POST", "/v1/apiKeys", { displayName: "=Ritvél, ný" });
  noteSecret(made.json.secret, "credential");
  const keyId = made.json.apiKey.name.slice("apiKeys/".length);
  await use(accountId, `${month}-01`, 1200, 7200);
  await use(accountId, `${month}-17`, 34, 90);
  await use(accountId, `${monthBefore}-28`, 5, 0);
  await use(keyId, `${month}-01`, 1000, 7200);
  const person = { email: "birna@example.is", displayName: "Birna", role: "MEMBER" };
  const member = await pages.service.call("POST", "/v1/members", person);
  const memberId = member.json.name.slice("members/".length);
  await use(memberId, `${month}-17`, 12, 90, memberId);
  await use(newId(), `${month}-17`, 8, 0, memberId);
  await page.goto(`${pages.service.address}/console/usage`);
  await page.getByLabel("Mánuður").selectOption(named(month));
  assert.equal(new URL(page.url()).search, `?month=${month}`);
  const firstDate = new Date(`${month}-01T12:00:00`);
  const first = shortDate("is", firstDate, firstDate);
  assert.deepEqual(await rowOf("Eftir dögum", first), [
    first,
    "2,0 klst.",
    "2,0 klst.",
    "1 mín.",
    "–",
    "1.200",
    "0",
  ]);
  assert.deepEqual((await rowOf("Eftir dögum", "Samtals"))[5], "1.234");
  await table("Eftir lyklum").waitFor();
  assert.deepEqual((await rowOf("Eftir lyklum", /=Ritvél/))[5], "1.000");
  assert.deepEqual((await rowOf("Eftir lyklum", "Annað"))[5], "226");
  await table("Eftir fólki").waitFor();
  // The member's own use, and that of a revoked key of the member.
  assert.deepEqual((await rowOf("Eftir fólki", "Birna (birna@example.is)"))[5], "20");
  assert.deepEqual((await rowOf("Eftir fólki", "Lyklar án eiganda"))[5], "1.000");
  assert.deepEqual((await rowOf("Eftir mánuðum", named(monthBefore)))[5], "5");

  const days = await download("Sækja daga (CSV)");
  assert.equal(days.name, `hlust-${month}.csv`);
  assert.deepEqual(days.lines, [
    "date,requests,console_requests,live_seconds,short_seconds,job_seconds",
    `${month}-01,1200,0,60,0,7200`,
    `${month}-17,34,0,60,0,90`,
    "",
  ]);
  const keys = await download("Sækja lykla (CSV)");
  assert.match(keys.lines[1] ?? "", /^"'=Ritvél, ný \(hlust_.*\)",1000,0,60,0,7200$/);
  const people = await download("Sækja fólk (CSV)");
  assert.equal(people.name, `hlust-people-${month}.csv`);
  assert.equal(people.lines[1], "Birna (birna@example.is),20,0,120,0,90");
  const months = await download("Sækja mánuði (CSV)");
  assert.ok(months.lines.includes(`${month},1234,0,120,0,7290`));

  // This month has the calls of this page, and those of a program with the key.
  for (let at = 0; at < 3; at += 1) {
    const call = { method: "GET", path: "/v1/caller" };
    assert.equal((await callRest(pages.service.address, made.json.secret, call)).status, 200);
  }
  await until(async () => {
    await page.goto(`${pages.service.address}/console/usage`);
    await table("Eftir lyklum").waitFor({ timeout: 5_000 });
    const program = await rowOf("Eftir lyklum", /=Ritvél/);
    const own = await rowOf("Eftir lyklum", /First key/);
    // The first key has made all calls of this page, and the test's few calls of the API.
    const isApart = Number(own[6]) > 3 && Number(own[5]) < Number(own[6]);
    return program[5] === "3" && program[6] === "0" && isApart;
  });
});

test("a page that cannot be loaded says so, and can be tried again", async () => {
  expectProblems(page, /^403 GET .*usageDays/);
  const refused = { status: 403, json: { message: "refused" } };
  await page.route("**/console/api/v1/usageDays*", (route) => route.fulfill(refused));
  await page.reload();
  await page.getByRole("alert").getByText("Þú hefur ekki leyfi til þess.").waitFor();
  await checkPage(page);
  await page.unroute("**/console/api/v1/usageDays*");
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await table("Eftir dögum").waitFor();
});

test("the page is accessible, fits every window and does not shift", async () => {
  await page.goto(`${pages.service.address}/console/usage?month=${month}`);
  const shown = async () => await table("Eftir lyklum").waitFor();
  await shown();
  await checkPage(page);
  await checkLooks(page, "usage");
  await show(page, icelandic);
  await checkShift(page, shown);
});

test("users without the scope account see the use of the account, but not that of keys", async () => {
  const scopes = ["transcripts.read"];
  const reader = await pages.service.call("POST", "/v1/apiKeys", { scopes });
  await using viewer = await pages.open(`/usage?month=${month}`, { key: reader.json.secret });
  const asked: string[] = [];
  viewer.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await viewer.reload();
  await viewer.getByRole("region", { name: "Eftir mánuðum" }).waitFor();
  await viewer.waitForLoadState("networkidle");
  assert.ok(asked.includes("/console/api/v1/usageDays"));
  assert.ok(!asked.some((path) => /(?:key|member)Usage|Keys$/.test(path)), asked.join(" "));
  assert.equal(await viewer.getByRole("alert").count(), 0);
});
