// Links with which a transcript is read without an account: their dialog, their page, and print.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { readZip } from "../fixtures/read-zip.ts";
import { until } from "../fixtures/until.ts";
import { createInterview } from "./edited-transcript.ts";
import { checkPage } from "./check-page.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

const visitor = { key: undefined } as const;
const pathOf = (uri: string): string => uri.replace(/^.*\/console/, "");

/** Creates a link over the API. Returns the path of its page under /console, and its name. */
async function share(name: string, body: object = {}): Promise<{ path: string; name: string }> {
  const { json } = await pages.service.call("POST", `/v1alpha1/${name}/shares`, body);
  return { path: pathOf(json.uri), name: json.name };
}

const aside = (page: Page) => page.getByRole("complementary");

test("a link is made, copied, listed and revoked with only the keyboard", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  expectProblems(page, /^404 GET .*\/shared\//);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const region = aside(page).getByRole("region", { name: "Deila" });
  await region.getByText("Uppskriftinni er ekki deilt.").waitFor();
  await region.getByRole("button", { name: "Búa til tengil" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Deila uppskriftinni" });
  await dialog.getByLabel("Gildir í").selectOption("7");
  await dialog.getByLabel("Athugasemd").fill("fyrir Jón");
  // Without media there is no choice of media.
  assert.equal(await dialog.getByLabel("Hverju er deilt").count(), 0);
  await checkLooks(page, "share-dialog", someLooks);
  await page.getByLabel("Note").press("Enter");
  const made = page.getByRole("dialog", { name: "The link is ready" });
  const uri = await made.getByLabel("Link", { exact: true }).innerText();
  await made.getByRole("button", { name: "Copy" }).press("Enter");
  await made.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), uri);
  await page.keyboard.press("Escape");
  assert.equal(await made.count(), 1, "a link that is shown once is not closed by accident");
  await made.getByRole("button", { name: "Done" }).press("Enter");
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}/shares`);
  const [stored] = json.shares;
  const days = (Date.parse(stored.expireTime) - Date.parse(stored.createTime)) / 86_400_000;
  assert.deepEqual([stored.note, stored.withMedia, Math.round(days)], ["fyrir Jón", false, 7]);
  const links = aside(page).getByRole("list", { name: "Links" }).getByRole("listitem");
  assert.match(
    await links.innerText(),
    /^fyrir Jón\s+Text only · until .* · not read yet\s+Revoke$/,
  );

  {
    await using reader = await pages.open(pathOf(uri), visitor);
    await reader.getByRole("heading", { level: 1, name: "Viðtal um hlaupið" }).waitFor();
  }
  await links.getByRole("button", { name: "Revoke the link: fyrir Jón" }).press("Enter");
  const question = page.getByRole("dialog", { name: "Revoke the link?" });
  await question.getByRole("button", { name: "Revoke" }).press("Enter");
  await aside(page).getByText("The transcript is not shared.").waitFor();
  await using reader = await pages.open(pathOf(uri), visitor);
  await reader.getByRole("heading", { level: 1, name: "Tengillinn virkar ekki" }).waitFor();
  await checkLooks(reader, "shared-ended", someLooks);
});

test("a reader without an account sees the text and the names, and nothing else", async () => {
  const name = await createInterview(pages.service);
  const { path } = await share(name, { note: "leynileg athugasemd" });
  await using page = await pages.open(path, visitor);
  await page.getByRole("heading", { level: 1, name: "Viðtal um hlaupið í Skeiðará" }).waitFor();
  const main = page.getByRole("main");
  await main.getByText("Góðan daginn. Við stöndum hér").waitFor();
  assert.equal(await main.getByText("Fréttamaður").count(), 2);
  assert.equal(await main.getByText("Mælandi S2").count(), 2);
  const shown = await page.locator("body").innerText();
  for (const hidden of ["Tekið á bökkum", "jökulhlaup", "leynileg", "Útgáfur", "Sækja"]) {
    assert.ok(!shown.includes(hidden), hidden);
  }
  assert.equal(await page.getByRole("navigation").count(), 0);
  assert.equal(await page.locator("video").count(), 0);
  // No user is signed in, and the page asks for no session.
  const calls = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
  );
  assert.ok(calls.some((call) => call.startsWith("/v1alpha1/shared/")));
  assert.ok(!calls.some((call) => call.startsWith("/console/session")), String(calls));
  await checkLooks(page, "shared");
  await page.keyboard.press("f");
  await page.getByRole("textbox", { name: "Find" }).fill("ánni");
  await page.getByRole("status").getByText("1 place", { exact: true }).waitFor();
});

/** Creates a link with media in the dialog. Returns the path of its page under /console. */
async function shareWithMedia(name: string): Promise<string> {
  await using page = await pages.open(`/${name}`);
  await aside(page).getByRole("button", { name: "Búa til tengil" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Deila uppskriftinni" });
  await dialog.getByLabel("Hverju er deilt").selectOption("Texta og upptöku");
  await dialog.getByText("er líka hægt að afrita").waitFor();
  await dialog.getByRole("button", { name: "Búa til tengil" }).press("Enter");
  const made = page.getByRole("dialog", { name: "Tengillinn er tilbúinn" });
  const uri = await made.getByLabel("Tengill", { exact: true }).innerText();
  await aside(page).getByText("Texti og upptaka").waitFor();
  return pathOf(uri);
}

test("a link with media plays it in the page, also after its URL has expired", async () => {
  const { segments, samples } = interview();
  const transcript = { metadata: interviewMetadata, segments };
  const media = Uint8Array.from(wavOf(samples));
  const name = await createTranscript(pages.service, transcript, media);
  const path = await shareWithMedia(name);
  await using page = await pages.open(path, visitor);
  expectProblems(page, /^403 GET \/media\//);
  await page.getByRole("button", { name: "Spila", exact: true }).waitFor();
  // The first URL of the media is refused, as one that has expired.
  let refused = 0;
  await page.route("**/media/*", async (route) => {
    refused += 1;
    if (refused === 1) await route.fulfill({ status: 403, body: "{}" });
    else await route.fallback();
  });
  await page.reload();
  await page.getByRole("button", { name: "Spila", exact: true }).press("Enter");
  await until(async () => {
    return (await page.evaluate<number>("document.querySelector('video').currentTime")) > 0.2;
  });
  assert.ok(refused >= 2, "the URL was renewed");
  await page.getByRole("button", { name: "Gera hlé", exact: true }).press("Enter");
  await checkLooks(page, "shared-media", someLooks);
});

test("a printed transcript has its title, names, times and text in black, and no controls", async () => {
  const name = await createInterview(pages.service);
  const { path } = await share(name);
  for (const [address, options] of [
    [`/${name}`, {}],
    [path, visitor],
  ] as const) {
    await using page = await pages.open(address, {
      ...options,
      look: { size: "desktop", language: "is", theme: "dark" },
    });
    await page.getByText("Góðan daginn. Við stöndum hér").waitFor();
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const visible = "document.body.innerText.replaceAll(/\\s+/g, ' ')";
    const printed = /Viðtal um hlaupið í Skeiðará .*Fréttamaður 0:00 Góðan daginn\./;
    // Parts of the page are loaded later than the text.
    await until(async () => printed.test(await page.evaluate<string>(visible)));
    const seen = page
      .locator("button, select, a:not(.segment-time), input")
      .filter({ visible: true });
    await until(async () => (await seen.count()) === 0);
    const ink = "getComputedStyle(document.querySelector('.segment p')).color";
    await until(async () => (await page.evaluate(ink)) === "rgb(0, 0, 0)");
    const pdf = await page.pdf({ format: "A4" });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  }
});

test("a long transcript is printed whole", async () => {
  const said = Array.from(
    { length: 400 },
    (_, at) => ["S1", `Málsgrein númer ${at} er hér með nokkrum orðum í viðbót.`] as const,
  );
  const { path } = await share(await createInterview(pages.service, { said }));
  await using page = await pages.open(path, visitor);
  await page.getByText("Málsgrein númer 399 ").waitFor({ state: "attached" });
  const pdf = await page.pdf({ format: "A4" });
  // The number of pages is the largest count of the page tree.
  const counts = [...pdf.toString("latin1").matchAll(/\/Count (\d+)/g)].map(([, n]) => Number(n));
  assert.ok(Math.max(...counts) >= 10, `${Math.max(...counts)} pages`);
});

/** Opens the choices of files, and returns those of some formats. */
async function fileChoice(page: Page, name: string): Promise<Locator> {
  await aside(page).locator(".file-choices summary").press("Enter");
  return aside(page).getByRole("group", { name });
}

test("subtitles have the line length and the names that the user chose", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  const choice = await fileChoice(page, "Í skjátextum, SRT og VTT");
  await choice.getByLabel("Nöfn í SRT").press("Space");
  await choice.getByLabel("Lengd línu").selectOption("80 stafir");
  await choice.getByLabel("Línur í skjátexta").selectOption("1");
  const coming = page.waitForEvent("download");
  await aside(page).getByRole("button", { name: "Sækja: SRT" }).press("Enter");
  const text = await readFile(await (await coming).path(), "utf8");
  const texts = text
    .trimEnd()
    .split("\n\n")
    .map((cue) => cue.split("\n").slice(2));
  assert.ok(texts.every((lines) => lines.length === 1));
  assert.ok(texts.some(([line = ""]) => line.length > 42));
  assert.match(texts[0]?.[0] ?? "", /^Fréttamaður:\u00a0Góðan daginn\./);
  await checkPage(page);
});

test("the text is copied with what the user chose", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copy = aside(page).getByRole("button", { name: "Afrita texta" });
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  await copy.press("Enter");
  await page.locator(".toast").getByText("Textinn var afritaður.").waitFor();
  assert.match(await copied(), /^Fréttamaður: Góðan daginn\. /);
  const choice = await fileChoice(page, "Í textaskrám og afrituðum texta");
  await choice.getByLabel("Nöfn").press("Space");
  await copy.press("Enter");
  await until(async () => (await copied()).startsWith("Góðan daginn. "));
});

test("a document has what the user chose", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  const choice = await fileChoice(page, "Í Word- og ODT-skjölum");
  await choice.getByLabel("Tímar", { exact: true }).press("Space");
  await choice.getByLabel("Fyrirsögn").press("Space");
  for (const [format, content] of [
    ["ODT", "content.xml"],
    ["Word", "word/document.xml"],
  ] as const) {
    const coming = page.waitForEvent("download");
    await aside(page)
      .getByRole("button", { name: `Sækja: ${format}` })
      .press("Enter");
    const files = readZip(await readFile(await (await coming).path()));
    const xml = files.find(({ path }) => path === content)?.bytes.toString() ?? "";
    const [first = "", second = ""] = xml
      .split(/<\/(?:text|w):p>/)
      .map((part) => part.replaceAll(/<[^>]*>/g, "").trim());
    assert.deepEqual([first, second.slice(0, 13)], ["Fréttamaður", "Góðan daginn."], format);
  }
});

test("a text file has names and nothing else, until the user chooses times within paragraphs", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  const choice = await fileChoice(page, "Í textaskrám og afrituðum texta");
  const interval = choice.getByLabel("Tímar inni í málsgreinum");
  const downloaded = async (): Promise<string> => {
    const coming = page.waitForEvent("download");
    await aside(page).getByRole("button", { name: "Sækja: Texti" }).press("Enter");
    return await readFile(await (await coming).path(), "utf8");
  };
  assert.match(await downloaded(), /^Fréttamaður: Góðan daginn\. /);
  assert.equal(await interval.isDisabled(), true);
  await choice.getByLabel("Tímar", { exact: true }).press("Space");
  await choice.getByLabel("Fyrirsögn").press("Space");
  await interval.selectOption("Á 10 s fresti");
  const text = await downloaded();
  assert.match(text, /^Viðtal um hlaupið í Skeiðará\n/);
  // The turns begin at 0:00, 0:07, 0:17 and 0:22; the second and the last one go on for 10 s.
  assert.ok([...text.matchAll(/\[\d\d:\d\d:\d\d\]/g)].length > 4, text);
});
