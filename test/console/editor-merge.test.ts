// Two people who edit one transcript: nothing of either is lost, in Chromium and the real service.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import {
  caretOf,
  first,
  openEditing,
  placeCaret,
  second,
  textsOf,
  third,
  typeAsStep,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import {
  changeElsewhere,
  createInterview,
  segmentsOf,
  turns,
  versionsOf,
} from "./edited-transcript.ts";
import { checkDialog } from "./check-dialog.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { sentChanges } from "./sent-changes.ts";
import {
  createTranscript,
  interview,
  interviewMetadata as spokenMetadata,
} from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

/** The text of the current version, by segment. */
async function textsAtService(name: string): Promise<string[]> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  return json.segments.map(({ words }: { words: { word: string }[] }) =>
    words.map(({ word }) => word).join(""),
  );
}

/** Another person saves a version in which the text of one turn is another. */
async function saveElsewhere(name: string, turn: number, text: string): Promise<void> {
  const changed = turns.map(([speaker, said], at) => [speaker, at === turn ? text : said] as const);
  await changeElsewhere(pages.service, name, { segments: segmentsOf(changed) });
}

async function saved(page: Page): Promise<void> {
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
}

test("changes of others in other places join by themselves when the text is saved", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  const theirs = second.replace("rólega", "mjög rólega");
  await saveElsewhere(name, 1, theirs);
  await saved(page);
  const both = withTexts({ 0: `Jæja. ${first}`, 1: theirs });
  await untilTexts(page, both);
  assert.deepEqual(await textsAtService(name), both);
  assert.deepEqual(await caretOf(page), { paragraph: 0, offset: 6 });
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(json.version.kind, "MERGED");
  assert.equal((await versionsOf(pages.service, name)).length, 3);
  await page.keyboard.type("Sko. ");
  await saved(page);
  assert.deepEqual(await textsAtService(name), withTexts({ 0: `Jæja. Sko. ${first}`, 1: theirs }));
  const [newest] = await versionsOf(pages.service, name);
  assert.equal(newest?.kind, "EDITED", "only the version with the changes of others is merged");
});

test("if others have made the same changes, saving makes no further version", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await saveElsewhere(name, 0, `Jæja. ${first}`);
  await saved(page);
  assert.equal((await versionsOf(pages.service, name)).length, 2);
  await page.keyboard.type("Sko. ");
  await saved(page);
  assert.deepEqual(await textsAtService(name), withTexts({ 0: `Jæja. Sko. ${first}` }));
  assert.equal((await versionsOf(pages.service, name)).length, 3);
});

test("what was saved before does not clash with a version that others made of it", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await saved(page);
  const theirs = `Jæja. ${first.replace("Skeiðarár", "Gígju")}`;
  await saveElsewhere(name, 0, theirs);
  await page.keyboard.press("Home");
  await page.keyboard.type("Sko. ");
  await saved(page);
  const both = withTexts({ 0: `Sko. ${theirs}` });
  await untilTexts(page, both);
  assert.deepEqual(await textsAtService(name), both);
});

test("the same words changed by two are shown as mine, theirs and both, and the choice is saved", async () => {
  for (const [choice, word] of [
    ["Mitt:", "hægt"],
    ["Þeirra:", "hratt"],
    ["Hvort tveggja:", "hægt hratt"],
  ] as const) {
    const name = await createInterview(pages.service);
    await using page = await openEditing(pages, name);
    expectProblems(page, /^409 POST .*:modifySegments$/);
    await placeCaret(page, 1, second.indexOf("rólega") + 2);
    await page.keyboard.press("Control+ArrowLeft");
    await page.keyboard.press("Control+Shift+ArrowRight");
    await page.keyboard.type("hægt");
    await saveElsewhere(name, 1, second.replace("rólega", "hratt"));
    await page.keyboard.press("Control+s");
    const dialog = page.getByRole("dialog", { name: "Aðrir hafa breytt sömu orðum" });
    await dialog.waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Sameina og vista" }).isDisabled(), true);
    await dialog.getByRole("radio", { name: choice }).check();
    await dialog.getByRole("button", { name: "Sameina og vista" }).click();
    await page.getByText("Engar óvistaðar breytingar").waitFor();
    const texts = withTexts({ 1: second.replace("rólega", word) });
    assert.deepEqual(await textsAtService(name), texts);
    assert.deepEqual(await textsOf(page), texts);
  }
});

test("the question about clashes can be put off, and is usable in each look", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.press("Control+Shift+ArrowRight");
  await page.keyboard.type("Sælan");
  await saveElsewhere(name, 0, first.replace("Góðan", "Bestan"));
  await page.keyboard.press("Control+s");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await dialog.getByRole("button", { name: "Hætta við" }).click();
  await untilTexts(page, withTexts({ 0: first.replace("Góðan", "Sælan") }));
  await page
    .getByText(/^Óvistaðar breytingar/)
    .first()
    .waitFor();
  await page.keyboard.press("Control+s");
  await dialog.waitFor();
  await checkDialog(page);
  await checkLooks(page, "clashes", someLooks);
  assert.deepEqual((await textsAtService(name))[0], first.replace("Góðan", "Bestan"));
});

test("a version of others joins under the open cursor, and undo takes back only my own edits", async () => {
  // Long enough that the page can be scrolled.
  const said = Array.from({ length: 8 }, () => turns).flat();
  const name = await createInterview(pages.service, { said });
  const texts = said.map(([, text]) => text);
  await using page = await openEditing(pages, name, said.length);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 21, 0);
  await typeAsStep(page, "Jæja. ");
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await typeAsStep(page, "Endir.");
  await page.evaluate(
    `document.querySelectorAll(".segment p")[21].scrollIntoView({ block: "center" })`,
  );
  await placeCaret(page, 21, 6);
  const before = await topOf(page, 21);
  // Others add a paragraph above, divide one, and change a word in the one that I have changed.
  const theirs = [
    ["S1", "Halló, halló. "] as const,
    ...said.slice(0, 20),
    ["S1", "Hvað þýðir það "] as const,
    ["S1", "fyrir fólk sem er á leiðinni austur í dag?"] as const,
    ["S2", texts[21]?.replace("þúsund", "tvö þúsund") ?? ""] as const,
    ...said.slice(22),
  ];
  await changeElsewhere(pages.service, name, { segments: segmentsOf(theirs) });
  const merged = theirs.map(([, text]) => text);
  merged[23] = `Jæja. ${merged[23]}`;
  await untilTexts(page, [...merged, "Endir."]);
  assert.deepEqual(await caretOf(page), { paragraph: 23, offset: 6 });
  const by = (await topOf(page, 23)) - before;
  assert.ok(Math.abs(by) < 2, `the paragraph is moved by ${by} pixels`);
  await typeAsStep(page, "Sko. ");
  merged[23] = merged[23]?.replace("Jæja. ", "Jæja. Sko. ") ?? "";
  await untilTexts(page, [...merged, "Endir."]);
  for (let at = 0; at < 5; at++) await page.keyboard.press("Control+z");
  await untilTexts(
    page,
    theirs.map(([, text]) => text),
  );
  for (let at = 0; at < 5; at++) await page.keyboard.press("Control+y");
  await untilTexts(page, [...merged, "Endir."]);
  // Only what I have changed is sent, and their times stay.
  const changes = await sentChanges(page, () => saved(page));
  assert.deepEqual(
    changes.map(({ startIndex, segments }) => [startIndex, segments.length]),
    [
      [23, 1],
      [theirs.length, 1],
    ],
  );
  assert.deepEqual(await textsAtService(name), [...merged, "Endir."]);
});

/** The distance of a paragraph from the top of the screen, in pixels. */
function topOf(page: Page, paragraph: number): Promise<number> {
  return page.evaluate(
    `document.querySelectorAll(".segment p")[${paragraph}].getBoundingClientRect().top`,
  );
}

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Aðrir hafa breytt sömu orðum" });

/** Replaces the word "rólega" of the second turn, and tries to save while others have, too. */
async function clash(page: Page, name: string, theirs: string): Promise<void> {
  await placeCaret(page, 1, second.indexOf("rólega") + 2);
  await page.keyboard.press("Control+ArrowLeft");
  await page.keyboard.press("Control+Shift+ArrowRight");
  await page.keyboard.type("hægt");
  await saveElsewhere(name, 1, theirs);
  await page.keyboard.press("Control+s");
  await dialogOf(page).waitFor();
}

test("a version that comes while clashes are decided is joined too, and nothing of it is lost", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  const theirs = second.replace("rólega", "hratt");
  await clash(page, name, theirs);
  const later = turns.map(([speaker, said], at) => {
    const text = [`Jæja. ${said}`, theirs, said, said][at] ?? "";
    return [speaker, text] as const;
  });
  await changeElsewhere(pages.service, name, { segments: segmentsOf(later) });
  // The page has received it when it says how many clashes there are with it.
  await page.locator(".note").filter({ hasText: "1 árekstur" }).waitFor({ state: "attached" });
  await dialogOf(page).getByRole("radio", { name: "Mitt:" }).check();
  await dialogOf(page).getByRole("button", { name: "Sameina og vista" }).click();
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const texts = withTexts({ 0: `Jæja. ${first}`, 1: second.replace("rólega", "hægt") });
  assert.deepEqual(await textsAtService(name), texts);
  assert.deepEqual(await textsOf(page), texts);
});

test("choices about a text that has changed since are not taken: the user is asked again", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await clash(page, name, second.replace("rólega", "hratt"));
  const choose = async (): Promise<void> => {
    await dialogOf(page).getByRole("radio", { name: "Þeirra:" }).check();
    await dialogOf(page).getByRole("button", { name: "Sameina og vista" }).click();
  };
  // Dictation, for example, writes into the text although a dialog is open.
  await page.evaluate(
    `document.querySelectorAll(".segment p")[1].firstChild.insertData(0, "Nú. ")`,
  );
  await untilTexts(page, withTexts({ 1: `Nú. ${second.replace("rólega", "hægt")}` }));
  await choose();
  // The new question has no answer yet.
  const send = dialogOf(page).getByRole("button", { name: "Sameina og vista" });
  await until(async () => (await send.count()) === 1 && (await send.isDisabled()));
  assert.equal((await versionsOf(pages.service, name)).length, 2);
  await choose();
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const texts = withTexts({ 1: `Nú. ${second.replace("rólega", "hratt")}` });
  assert.deepEqual(await textsAtService(name), texts);
  assert.deepEqual(await textsOf(page), texts);
});

test("if others save a version before each attempt, the page says so, and saves when it is asked again", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  let attempts = 0;
  const theirs = () => `${third} ${"Já. ".repeat(attempts)}`.trim();
  await page.route("**/*:modifySegments", async (route) => {
    attempts += 1;
    await saveElsewhere(name, 2, theirs());
    await route.continue();
  });
  await page.keyboard.press("Control+s");
  const alert = page.getByRole("alert");
  await alert.filter({ hasText: "Uppskriftinni var breytt annars staðar á meðan." }).waitFor();
  assert.match(await alert.innerText(), /reyndu aftur\. Textinn er kyrr á síðunni\.$/);
  assert.equal(attempts, 5);
  await page.unroute("**/*:modifySegments");
  await saved(page);
  await until(async () => (await alert.count()) === 0);
  const texts = withTexts({ 0: `Jæja. ${first}`, 2: theirs() });
  assert.deepEqual(await textsAtService(name), texts);
  assert.deepEqual(await textsOf(page), texts);
});

test("if others take their clashing change back, their version joins, and nothing has to be decided", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await clash(page, name, second.replace("rólega", "hratt"));
  await saveElsewhere(name, 0, `Jæja. ${first}`);
  await dialogOf(page).waitFor({ state: "detached" });
  const texts = withTexts({ 0: `Jæja. ${first}`, 1: second.replace("rólega", "hægt") });
  await untilTexts(page, texts);
  await saved(page);
  assert.deepEqual(await textsAtService(name), texts);
});

test("different speakers for one paragraph are a clash, and the chosen one is saved", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 2, 5);
  await page.keyboard.press("F8");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("2");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const changed = turns.map(([speaker, said], at) => [at === 2 ? "S3" : speaker, said] as const);
  await changeElsewhere(pages.service, name, { segments: segmentsOf(changed) });
  await page.keyboard.press("Control+s");
  const dialog = dialogOf(page);
  await dialog.waitFor();
  assert.equal(await dialog.getByRole("radio").count(), 2, "both are not possible");
  await dialog.getByRole("radio", { name: "Þeirra: S3" }).check();
  await dialog.getByRole("button", { name: "Sameina og vista" }).click();
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const speakers = json.segments.map(({ speakerId }: { speakerId: string }) => speakerId);
  assert.deepEqual(speakers, ["S1", "S2", "S3", "S2"]);
});

test("the sound of a clash is played from its words", async () => {
  const talk = interview();
  const media = Uint8Array.from(wavOf(talk.samples));
  const { segments } = talk;
  const name = await createTranscript(pages.service, { metadata: spokenMetadata, segments }, media);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await page.waitForFunction("document.querySelector('video, audio')?.readyState > 0");
  const at = segments[1]?.words.findIndex(({ word }) => word.startsWith("rólega")) ?? -1;
  const changed = structuredClone(segments);
  const word = changed[1]?.words[at];
  assert.ok(word);
  word.word = "hratt ";
  await placeCaret(page, 1, second.indexOf("rólega") + 2);
  await page.keyboard.press("Control+ArrowLeft");
  await page.keyboard.press("Control+Shift+ArrowRight");
  await page.keyboard.type("hægt");
  await changeElsewhere(pages.service, name, { segments: changed });
  await page.keyboard.press("Control+s");
  await dialogOf(page)
    .getByRole("button", { name: /^Spila frá 0:0\d/ })
    .click();
  const start = Number.parseFloat(word.startTime);
  await until(async () => {
    const place = await page.evaluate<number>("document.querySelector('video, audio').currentTime");
    return place > start && place < start + 5;
  });
  assert.equal(await page.evaluate("document.querySelector('video, audio').paused"), false);
});
