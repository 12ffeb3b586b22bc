// The list of transcripts, which is read to its end, searched, left and reopened, with mouse and
// keyboard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { listedTitles, untilListed } from "./listed-titles.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { seedTranscripts } from "./seed-transcripts.ts";

/** Three pages of 100 transcripts, and some more. */
const seeded = 321;
/** The titles of the newest transcripts, in the order of their creation. */
const odd = [
  String.raw`Þorgerður Ægisdóttir: „Ótal öræfi“ "og" \ %_`,
  "<img src=x onerror=alert(1)><script>alert(2)</script>",
  "Löng fyrirsögn um ekki neitt sérstakt ".repeat(20).trim(),
  "",
];
const total = seeded + odd.length;
/**
 * The maximum number of rows that a list of any length renders: the visible rows, the adjacent
 * rows, and the focused row.
 */
const rowsMax = 40;

let pages: TestPages;
let page: Page;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  page = await pages.open("/transcripts");
});
after(() => pages[Symbol.asyncDispose]());

async function go(path: string): Promise<void> {
  await page.goto(`${pages.service.address}/console${path}`);
}

async function untilAll(): Promise<void> {
  await untilListed(page, ([first]) => first === "Án titils");
}

async function untilPage(condition: string): Promise<void> {
  await until(async () => await page.evaluate<boolean>(condition));
}

/** Returns the row at the top of the window, and its distance from the top. */
async function rowAtTop(): Promise<{ readonly title: string; readonly px: number }> {
  return await page.evaluate(`(() => {
    const rows = [...document.querySelectorAll(".transcript-row")];
    const row = rows.find((row) => row.getBoundingClientRect().top >= 0);
    return { title: row.querySelector(".title").textContent, px: Math.round(row.getBoundingClientRect().top) };
  })()`);
}

test("an empty list shows what to do first, and only actions that the user may take", async () => {
  await page.getByRole("heading", { name: "Engar uppskriftir enn" }).waitFor();
  await page.getByRole("link", { name: "Tala í hljóðnemann" }).waitFor();
  await page.getByRole("link", { name: "Ný uppskrift" }).waitFor();
  const { json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Lesari",
    scopes: ["transcripts.read"],
  });
  await using reader = await pages.open("/transcripts", { key: json.secret });
  await reader.getByText("þegar einhver á reikningnum sendir upptöku").waitFor();
  assert.equal(await reader.getByRole("main").getByRole("link").count(), 0);
});

test("transcripts are listed newest first with their details, whatever their titles contain", async () => {
  await seedTranscripts(pages.service.dataFolder, seeded);
  for (const subject of odd) {
    const keywords = subject === "" ? [] : ["Öræfi", "<b>x</b>", `"a" \\`, "fjórða", "fimmta"];
    const draft = draftOf(subject, { keywords });
    assert.equal((await pages.service.call("POST", "/v1alpha1/transcripts", draft)).status, 200);
  }
  await go("/transcripts");
  const found = await untilListed(page, ({ length }) => length > 6);
  assert.deepEqual(found.slice(0, 4), ["Án titils", ...odd.slice(0, 3).toReversed()]);
  assert.deepEqual(
    found.slice(4, 6).map((title) => title.split(", ").at(-1)),
    [`${seeded}`, `${seeded - 1}`],
  );
  const row = page.getByRole("listitem").filter({ hasText: `Störf þingsins, ${seeded}` });
  assert.deepEqual((await row.innerText()).split(/\s*\n\s*/), [
    `Störf þingsins, ${seeded}`,
    "þingfundur",
    "íslenska",
    "Þórður, Ása",
    "36:17",
    "20. nóv.",
  ]);
  await page.getByText("+2", { exact: true }).first().waitFor();
  // The list is counted before it has been read to its end.
  await page.locator(".sub", { hasText: `${total} uppskriftir` }).waitFor();
  // A keyword that was searched is shown, even if a row has no room for all.
  await go("/transcripts?keyword=fimmta");
  await untilListed(page, ({ length }) => length === 3);
  const searched = page.locator(".transcript-row").getByRole("button", { name: "„fimmta“" });
  assert.equal(await searched.count(), 3);
});

test("titles are searched for typed text after a pause, and the text appears in the address; going back leaves the search", async () => {
  await go("/transcripts");
  await untilAll();
  const requested: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/transcripts")) requested.push(searchParams.get("filter") ?? "");
  });
  const field = page.getByRole("searchbox", { name: "Leita í titlum" });
  await field.pressSequentially("ÖRÆFI“");
  await untilListed(page, ({ length }) => length === 1);
  assert.equal(new URL(page.url()).searchParams.get("subject"), "ÖRÆFI“");
  assert.equal(requested.at(-1), 'metadata.subject CONTAINS "ÖRÆFI“"');
  await page.getByText("1 uppskrift fannst").first().waitFor();
  await field.fill(String.raw`"og" \ %_`);
  await page.keyboard.press("Enter");
  await page.waitForURL(/og/);
  await untilListed(page, ([first = ""]) => first.startsWith("Þorg"));
  assert.equal(requested.at(-1), String.raw`metadata.subject CONTAINS "\"og\" \\ %_"`);
  await page.reload();
  await untilListed(page, ([first = ""]) => first.startsWith("Þorg"));
  assert.equal(await field.inputValue(), String.raw`"og" \ %_`);
  await page.goBack();
  await untilAll();
  assert.equal(await field.inputValue(), "");
});

test("the search field stays where it is, whatever has been found", async () => {
  await go("/transcripts");
  await untilAll();
  const field = page.getByRole("searchbox", { name: "Leita í titlum" });
  const top = async () => (await field.boundingBox())?.y;
  const before = await top();
  await field.fill("Finnst ekki");
  await page.getByRole("heading", { name: "Ekkert fannst" }).waitFor();
  await page.locator(".sub", { hasText: "Ekkert fannst" }).waitFor();
  assert.equal(await top(), before);
  await field.fill("");
  await untilAll();
  assert.equal(await top(), before);
});

test("a search that is replaced by another search is aborted, and its result is not shown", async () => {
  await go("/transcripts");
  await untilAll();
  const aborted: string[] = [];
  page.on("requestfailed", (request) => {
    aborted.push(new URL(request.url()).searchParams.get("filter") ?? "");
  });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route(/filter=.*hafnar/, async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  const field = page.getByRole("searchbox");
  await field.fill("hafnar");
  await page.waitForRequest(/filter=.*hafnar/);
  await field.fill("Skeiðará");
  await untilListed(
    page,
    (found) => found.length > 4 && found.every((it) => it.includes("Skeiðará")),
  );
  release();
  await until(() => Promise.resolve(aborted.some((filter) => filter.includes("hafnar"))));
  assert.ok((await listedTitles(page)).every((title) => title.includes("Skeiðará")));
  await page.unroute(/filter=.*hafnar/);
});

test("pressing keywords adds them to the search, several at a time, and removes them again", async () => {
  const only = (keyword: string) =>
    page.getByRole("button", { name: `Sýna aðeins með efnisorðinu „${keyword}“` }).first();
  const without = (keyword: string) =>
    page.getByRole("button", { name: `Taka efnisorðið „${keyword}“ úr leitinni` });
  await go("/transcripts");
  await only("þingfundur").click();
  await untilListed(page, (found) =>
    found.every((title) => /^(Óundir|Störf|Fundur fjár)/.test(title)),
  );
  await only("fjárlög").press("Enter");
  await untilListed(page, (found) => found.every((title) => title.startsWith("Fundur fjár")));
  assert.equal(new URL(page.url()).searchParams.getAll("keyword").join(), "þingfundur,fjárlög");
  await page.getByText("40 uppskriftir fundust").first().waitFor();
  await without("þingfundur").click();
  await without("fjárlög").press("Enter");
  await untilAll();
  assert.equal(new URL(page.url()).search, "");
  await go("/transcripts?keyword=%22a%22+%5C");
  await untilListed(page, ({ length }) => length === 3);
});

test("the list loads to its end with few rendered rows, and going back restores its position", async () => {
  await go("/transcripts");
  await untilAll();
  let rows = 0;
  await until(async () => {
    await page.keyboard.press("End");
    const found = await listedTitles(page);
    rows = Math.max(rows, found.length);
    return found.at(-1)?.endsWith(", 1") === true;
  });
  assert.ok(rows <= rowsMax, `${rows} rows`);
  await page.getByText(`${total} uppskriftir`).first().waitFor();
  const last = page.getByRole("listitem").last();
  const numbers = [
    await last.getAttribute("aria-posinset"),
    await last.getAttribute("aria-setsize"),
  ];
  assert.deepEqual(numbers, [`${total}`, `${total}`]);
  await page.mouse.move(700, 400);
  await page.mouse.wheel(0, -3_000);
  // The position is saved after scrolling has paused.
  await untilPage(
    "history.state?.top === window.scrollY && innerHeight + scrollY < document.body.scrollHeight - 2500",
  );
  const left = await rowAtTop();
  await page.getByRole("link", { name: left.title, exact: true }).click();
  await page.waitForURL(/transcripts\/[0-9a-f-]{36}$/);
  await untilPage("window.scrollY === 0");
  await page.goBack();
  await untilPage(`document.activeElement?.textContent === ${JSON.stringify(left.title)}`);
  const now = await rowAtTop();
  assert.equal(now.title, left.title);
  assert.ok(Math.abs(now.px - left.px) <= 1, `${now.px} px, not ${left.px}`);
  await page.getByRole("navigation").getByRole("link", { name: "Uppskriftir" }).click();
  await page.keyboard.press("Home");
  await untilAll();
});

test("rows can be reached and opened with only the keyboard, even after the window has scrolled", async () => {
  await go("/transcripts");
  await untilAll();
  const focused = async () =>
    await page.evaluate<string>("document.activeElement?.closest('li')?.dataset.row ?? ''");
  await page.getByRole("searchbox").focus();
  // The filters, the button for a new transcript, the box of the first row, and its title.
  for (let tab = 1; tab <= 4; tab += 1) await page.keyboard.press("Tab");
  assert.equal(await focused(), "0");
  for (let row = 1; row <= 30; row += 1) {
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(), `${row}`);
  }
  await page.keyboard.press("End");
  // The window may still be scrolling, which must not move the row out of view again.
  await untilPage("window.scrollY > 5000");
  await page.keyboard.press("ArrowUp");
  assert.equal(await focused(), "29");
  await untilPage("document.activeElement.getBoundingClientRect().top > 0");
  const title = await page.evaluate<string>("document.activeElement.textContent");
  assert.match(title, new RegExp(`, ${total - 29}$`));
  await page.keyboard.press("Enter");
  await page.waitForURL(/transcripts\/[0-9a-f-]{36}$/);
});

test("a user who returns to the window at the top of the list sees new transcripts", async () => {
  await go("/transcripts");
  await untilAll();
  const draft = draftOf("Nýkomin upptaka");
  assert.equal((await pages.service.call("POST", "/v1alpha1/transcripts", draft)).status, 200);
  // This event occurs when a window becomes visible again.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  const [, second] = await untilListed(page, ([first]) => first === "Nýkomin upptaka");
  assert.equal(second, "Án titils");
  const { json } = await pages.service.call("GET", "/v1alpha1/transcripts?pageSize=1");
  await pages.service.call("DELETE", `/v1alpha1/${json.transcripts[0].name}`);
});

test("without a network the typed text stays, and the list loads when the network is back", async () => {
  await go("/transcripts");
  await untilAll();
  await page.context().setOffline(true);
  await page.getByRole("searchbox").fill("Skeiðará");
  await page.getByRole("alert").getByText("Ekki næst í þjónustuna.").waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "Skeiðará");
  await page.context().setOffline(false);
  await untilListed(
    page,
    (found) => found.length > 4 && found.every((it) => it.includes("Skeiðará")),
  );
});

test("the list and an empty search are accessible and fit the screen in every look", async () => {
  await go("/transcripts?keyword=%C3%9Eing&keyword=%C3%96r%C3%A6fi");
  await page.getByRole("heading", { name: "Ekkert fannst" }).waitFor();
  await page.getByRole("searchbox").fill("Hvergi");
  await page.getByText("Engin uppskrift hefur „Hvergi“ í titlinum.").waitFor();
  await page.getByRole("button", { name: "Leita heldur að efnisorðinu „Hvergi“" }).press("Enter");
  await page.getByText("Engin uppskrift hefur efnisorðið „Hvergi“.").waitFor();
  await checkLooks(page, "transcripts-nothing-found", someLooks);
  await page.getByRole("button", { name: "Show all" }).press("Enter");
  await page.getByText("Untitled").waitFor();
  await checkLooks(page, "transcripts");
});
