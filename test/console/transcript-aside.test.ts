// The side panel of a transcript: speaker names, details and deletion, also while others change the
// transcript and while offline.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { sql } from "kysely";
import { until } from "../fixtures/until.ts";
import { speaker } from "../spec/transcripts.ts";
import { changeElsewhere, createInterview, versionsOf } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTalk } from "./played-page.ts";
import { openServedDatabase } from "./seed-transcripts.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
});
after(() => pages[Symbol.asyncDispose]());

const metadataOf = async (name: string) =>
  (await pages.service.call("GET", `/v1alpha1/${name}`)).json.metadata;

async function openAside(name: string): Promise<Page> {
  const page = await pages.open(`/${name}`);
  await page.getByRole("heading", { name: "Útgáfur" }).waitFor();
  return page;
}

const said = (page: Page, text: string) =>
  page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });

test("a speaker is named with only the keyboard: immediately, everywhere, and in one version", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  const speakers = page.getByRole("region", { name: "Mælendur" });
  assert.deepEqual(await speakers.getByRole("listitem").allInnerTexts(), [
    "Fréttamaður\n0:12",
    "Mælandi S2\n0:22",
  ]);
  // Names that can be changed show a pencil.
  const sign = await page.evaluate<string>(
    "getComputedStyle(document.querySelector('button.speaker-name'), '::after').content",
  );
  assert.match(sign, /✎/);
  await speakers.getByRole("button", { name: "Breyta nafninu Mælandi S2" }).focus();
  await page.keyboard.press("Enter");
  await page.getByPlaceholder("Mælandi S2", { exact: true }).waitFor();
  await page.keyboard.type("Þórdís Ægisdóttir");
  await page.keyboard.press("Enter");
  await speakers.getByRole("button", { name: "Breyta nafninu Þórdís Ægisdóttir" }).waitFor();
  const focused = await page.evaluate<string>("document.activeElement.ariaLabel");
  assert.equal(focused, "Breyta nafninu Þórdís Ægisdóttir");
  await said(page, "Nafnið Þórdís Ægisdóttir er vistað.");
  // In two paragraphs, in the list of speakers, and in the version that has the name.
  await until(
    async () => (await page.locator("main").getByText("Þórdís Ægisdóttir").count()) === 4,
  );
  assert.deepEqual((await metadataOf(name)).speakers, {
    S1: speaker("Fréttamaður"),
    S2: speaker("Þórdís Ægisdóttir"),
  });
  await page.getByRole("link", { name: "Nöfnum breytt" }).waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 2);
});

test("leaving the field saves a name once, while Escape or an unchanged name saves nothing", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  const rename = page.getByRole("button", { name: "Breyta nafninu Fréttamaður" });
  const field = page.getByLabel("Nafn mælanda S1");
  await rename.click();
  await field.fill("Annað");
  await field.press("Escape");
  await rename.click();
  await field.fill(" Fréttamaður ");
  await field.press("Tab");
  await rename.click();
  await field.fill("Sunna Björk");
  await page.getByRole("heading", { level: 1 }).click();
  await said(page, "Nafnið Sunna Björk er vistað.");
  await page.getByRole("button", { name: "Breyta nafninu Sunna Björk" }).click();
  await field.fill("");
  await field.press("Enter");
  await page.getByRole("button", { name: "Breyta nafninu Mælandi S1" }).waitFor();
  await until(async () => Object.keys((await metadataOf(name)).speakers).length === 0);
  assert.equal((await versionsOf(pages.service, name)).length, 3);
});

test("a name that is not saved stays in its field, and a lost response does not cause a second version", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  expectProblems(page, /^(409|net::ERR_FAILED) PATCH .*metadata\.speakers$/);
  await page.route(`**/${name}?*`, async (route) => {
    // The service saves the name, but its response is lost.
    if (route.request().method() === "PATCH") {
      await route.fetch();
      await route.abort();
    } else await route.fallback();
  });
  await page.getByRole("button", { name: "Breyta nafninu Fréttamaður" }).click();
  const field = page.getByLabel("Nafn mælanda S1");
  await field.fill("Sunna");
  await field.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Ekki næst í þjónustuna." }).waitFor();
  assert.equal(await field.inputValue(), "Sunna");
  // The text shows the old name again.
  assert.equal(await page.locator("main").getByText("Sunna", { exact: true }).count(), 0);
  await page.unroute(`**/${name}?*`);
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await page.getByRole("button", { name: "Breyta nafninu Sunna" }).waitFor();
  await said(page, "Nafnið Sunna er vistað.");
  assert.equal((await versionsOf(pages.service, name)).length, 2);

  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Breyta nafninu Mælandi S2" }).click();
  const other = page.getByLabel("Nafn mælanda S2");
  await other.fill("Már");
  await other.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Ekki næst í þjónustuna." }).waitFor();
  assert.equal(await other.inputValue(), "Már");
  await page.context().setOffline(false);
  await other.press("Enter");
  await said(page, "Nafnið Már er vistað.");
});

test("changes by others are kept, and a conflict is shown to the user", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  expectProblems(page, /^409 PATCH .*metadata\.speakers$/);
  await changeElsewhere(pages.service, name, {
    metadata: {
      subject: "Nýr titill",
      speakers: { S1: speaker("Fréttamaður"), S2: speaker("Jón") },
    },
  });
  const rename = page.getByRole("button", { name: "Breyta nafninu Fréttamaður" });
  await rename.click();
  await page.getByLabel("Nafn mælanda S1").fill("Sunna");
  await page.keyboard.press("Enter");
  await said(page, "Nafnið Sunna er vistað.");
  await page.getByRole("heading", { level: 1, name: "Nýr titill" }).waitFor();
  assert.deepEqual((await metadataOf(name)).speakers, {
    S1: speaker("Sunna"),
    S2: speaker("Jón"),
  });

  await changeElsewhere(pages.service, name, {
    metadata: { speakers: { S1: speaker("Björk") } },
  });
  await page.getByRole("button", { name: "Breyta nafninu Sunna" }).click();
  const field = page.getByLabel("Nafn mælanda S1");
  await field.fill("Sunna Björk");
  await field.press("Enter");
  const conflict = page.getByRole("alert").filter({ hasText: "Þar stendur nú „Björk“." });
  await conflict.waitFor();
  assert.equal(await field.inputValue(), "Sunna Björk");
  await checkLooks(page, "transcript-name-clash", someLooks);
  await page.getByRole("button", { name: "Save mine anyway" }).click();
  await page.getByRole("button", { name: "Rename Sunna Björk" }).waitFor();
  await until(async () => (await metadataOf(name)).speakers["S1"].fullName === "Sunna Björk");
});

test("details are edited with the keyboard, checked for length, and merged with others' changes", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  await page.getByRole("button", { name: "Breyta", exact: true }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Breyta upplýsingum" });
  const subject = dialog.getByLabel("Titill");
  await subject.fill("x".repeat(1001));
  await dialog.getByText("1 staf of langt: mest 1.000 stafir.").waitFor();
  await checkLooks(page, "transcript-details");
  await page.getByLabel("Title").fill("Hlaupið í Skeiðará");
  const keyword = page.getByRole("textbox", { name: "Keywords" });
  await keyword.fill("Öræfi");
  await keyword.press("Enter");
  await keyword.fill("fréttir");
  await keyword.press("Enter");
  await page.getByText("The transcript already has this keyword.").waitFor();
  await keyword.fill("");
  await page.getByRole("button", { name: "Remove keyword jökulhlaup" }).press("Enter");
  await keyword.press("Backspace");
  // A comma divides keywords, as in the form for a new job.
  await keyword.pressSequentially("Núpsvötn,");
  await keyword.fill("brú, fréttir,vatnavextir");
  await changeElsewhere(pages.service, name, { metadata: { description: "Önnur lýsing" } });
  await page.getByRole("button", { name: "Save", exact: true }).press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Hlaupið í Skeiðará" }).waitFor();
  const { subject: saved, description, keywords } = await metadataOf(name);
  assert.deepEqual(
    { saved, description, keywords },
    {
      saved: "Hlaupið í Skeiðará",
      description: "Önnur lýsing",
      keywords: ["fréttir", "Núpsvötn", "brú", "vatnavextir"],
    },
  );
  await page.getByText("Önnur lýsing").waitFor();
});

test("the dialog of details stays open until the service has answered", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  await page.route(`**/${name}*`, async (route) => {
    if (route.request().method() === "PATCH") await answered;
    await route.continue();
  });
  await page.getByRole("button", { name: "Breyta", exact: true }).click();
  const subject = page.getByRole("dialog").getByLabel("Titill");
  await subject.fill("Hægur titill");
  const sent = page.waitForRequest((request) => request.method() === "PATCH");
  await page.getByRole("button", { name: "Vista", exact: true }).press("Enter");
  await sent;
  await page.keyboard.press("Escape");
  // What the page does about a key is done two frames later.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  assert.equal(await subject.count(), 1);
  answer();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.unrouteAll();
});

test("details that others have changed are shown next to the user's edits, which stay in the fields", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  expectProblems(page, /^409 PATCH .*metadata\.(subject|keywords)/);
  await page.getByRole("button", { name: "Breyta", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Titill").fill("Minn titill");
  // The edits are still there when the dialog is opened again.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Breyta", exact: true }).press("Enter");
  await changeElsewhere(pages.service, name, { metadata: { subject: "Hinn titillinn" } });
  await dialog.getByRole("button", { name: "Vista" }).click();
  await dialog.getByRole("alert").filter({ hasText: "Hinn titillinn" }).waitFor();
  assert.equal(await dialog.getByLabel("Titill").inputValue(), "Minn titill");
  await page.getByRole("button", { name: "Vista mitt samt" }).click();
  await page.getByRole("heading", { level: 1, name: "Minn titill" }).waitFor();
  await until(async () => (await versionsOf(pages.service, name)).length === 3);
});

test("a transcript goes into the bin after a confirmation with its title; the note in the list takes it out again", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  const remove = page.getByRole("button", { name: "Eyða uppskriftinni" });
  await remove.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Eyða „Viðtal um hlaupið í Skeiðará“?" });
  await dialog.waitFor();
  await checkLooks(page, "transcript-delete", someLooks);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete transcript" }).press("Enter");
  await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  const binned = "“Viðtal um hlaupið í Skeiðará” is in the bin.";
  const note = page.locator(".note").filter({ hasText: binned });
  await note.waitFor();
  await said(page, binned);
  await page.getByRole("heading", { level: 1, name: "Transcripts" }).waitFor();
  const status = async () => (await pages.service.call("GET", `/v1alpha1/${name}`)).status;
  assert.equal(await status(), 404);
  await note.getByRole("button", { name: "Undo" }).press("Enter");
  await said(page, "“Viðtal um hlaupið í Skeiðará” was restored.");
  await page.getByRole("link", { name: "Viðtal um hlaupið í Skeiðará" }).first().waitFor();
  assert.equal(await status(), 200);
});

test("the bin shows who deleted what and until when; there it is restored, or deleted after a question", async () => {
  const names = [await createInterview(pages.service), await createInterview(pages.service)];
  const bin = await pages.service.call("POST", "/v1alpha1/transcripts:bin", { names });
  assert.deepEqual(bin.json.names, names);
  await using page = await pages.open("/bin");
  const title = "Viðtal um hlaupið í Skeiðará";
  const rows = page.locator(".rows > li");
  await until(async () => (await rows.count()) === 2);
  await page.getByText("Eyddum uppskriftum er haldið í 30 daga").waitFor();
  await checkLooks(page, "bin", someLooks);
  const restore = page.getByRole("button", { name: `Restore “${title}”` });
  await restore.first().press("Enter");
  await said(page, `“${title}” was restored.`);
  await until(async () => (await rows.count()) === 1);
  await page.getByRole("button", { name: `Delete now: “${title}”` }).press("Enter");
  const dialog = page.getByRole("dialog", { name: `Delete “${title}”?` });
  await dialog.getByRole("button", { name: "Delete now" }).press("Enter");
  await page.getByRole("heading", { name: "The bin is empty" }).waitFor();
  const left = await Promise.all(
    names.map(async (name) => (await pages.service.call("GET", `/v1alpha1/${name}`)).status),
  );
  assert.ok(left.includes(200) && left.includes(404), left.join());
});

test("a user with read-only access cannot edit anything", async () => {
  const name = await createInterview(pages.service);
  await changeElsewhere(pages.service, name, { metadata: { subject: "Annar titill" } });
  const { json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Lesandi",
    scopes: ["transcripts.read"],
  });
  await using page = await pages.open(`/${name}`, { key: json.secret });
  await page.getByRole("link", { name: "Titli breytt" }).waitFor();
  const aside = page.getByRole("complementary");
  const offered = await aside.getByRole("button").allInnerTexts();
  assert.deepEqual(offered, [
    "Hvað breyttist",
    "SRT",
    "VTT",
    "VTT, orð fyrir orð",
    "Merki fyrir Audacity",
    "Texti",
    "Word",
    "ODT",
    "JSON",
    "Afrita texta",
  ]);
  await aside.getByRole("link", { name: "Fyrsta útgáfa" }).click();
  await page.getByRole("heading", { level: 1, name: "Viðtal um hlaupið" }).waitFor();
  assert.equal(await aside.getByRole("button", { name: "Endurheimta" }).count(), 0);
});

test("a name that is being typed when the session ends is still there when the user is back", async () => {
  const name = await createInterview(pages.service);
  await using page = await openAside(name);
  expectProblems(page, /^401 POST .*:reportPresence$/);
  await page.getByRole("button", { name: "Breyta nafninu Mælandi S2" }).click();
  const field = page.getByLabel("Nafn mælanda S2");
  await field.fill("Guðrún Ósk");
  await page.context().clearCookies();
  await page.evaluate(`new BroadcastChannel("hlust.session").postMessage("changed")`);
  const key = page.getByLabel("API-lykill", { exact: true });
  await key.fill(pages.service.key);
  await key.press("Enter");
  await page.getByRole("heading", { name: "Útgáfur" }).waitFor();
  assert.equal(await field.inputValue(), "Guðrún Ósk");
  await field.press("Enter");
  await said(page, "Nafnið Guðrún Ósk er vistað.");
});

test("a recording that is submitted again shows its place in the queue", async () => {
  const name = await createTalk(pages);
  const request = { transcript: name, metadata: { languageCode: "en-US" } };
  for (let count = 0; count < 2; count++) {
    const { status } = await pages.service.call("POST", "/v1alpha1/transcriptjob:submit", request);
    assert.equal(status, 200);
  }
  await using page = await pages.open("/jobs");
  const rows = page.getByRole("list", { name: "Verk" }).getByRole("listitem");
  await rows.nth(1).getByText("næst í röðinni").waitFor();
  await rows.first().getByText("um 1 verk á undan").waitFor();
  await rows.first().getByText("Ný útgáfa").waitFor();
  await checkLooks(page, "jobs-queue", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  // The place follows the queue: the first job is cancelled elsewhere.
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  await pages.service.call("POST", `/v1alpha1/${json.jobs[1].name}:cancel`, {});
  await rows.first().getByText("næst í röðinni").waitFor();
  // While it runs, the row shows the model and the time left, from the speed that was seen.
  await using database = await openServedDatabase(pages.service.dataFolder);
  const reach = async (percent: number): Promise<void> => {
    await sql`update transcript_job set progress_percent = ${percent}, used_model = 'líkan-1',
      updated_at = now() where id = ${json.jobs[0].name.split("/")[1]}`.execute(database.db);
    await rows.first().getByText(`Skrifa upp, ${percent} %`).waitFor();
  };
  await reach(10);
  await rows.first().getByText("líkan-1").waitFor();
  assert.equal(
    await rows
      .first()
      .getByText(/ eftir$/)
      .count(),
    0,
  );
  await reach(30);
  await rows
    .first()
    .getByText(/^\d+ (sek\.|mín\.).* eftir$/)
    .waitFor();
});
