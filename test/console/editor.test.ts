// Editing the text of a transcript in its page, really typed into in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import { createInterview, segmentsOf, turns, versionsOf } from "./edited-transcript.ts";
import {
  caretOf,
  first,
  fourth,
  openEditing,
  openInterview,
  placeCaret,
  pointOf,
  said,
  second,
  select,
  textsOf,
  third,
  typeAsStep,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { sentChanges } from "./sent-changes.ts";
import { createTranscript, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

test("typed text appears, is saved with Ctrl+S as one version, and unchanged words keep their times", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await placeCaret(page, 0, "Góðan".length);
  await page.keyboard.type("n og blessaðan");
  const edited = first.replace("Góðan", "Góðann og blessaðan");
  await untilTexts(page, withTexts({ 0: edited }));
  await page.getByText(/^Óvistaðar breytingar/).waitFor();
  const changes = await sentChanges(page, () => page.keyboard.press("Control+s"));
  assert.equal(changes.length, 1, "only the paragraph that was changed is sent");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 2);
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const before = segmentsOf(turns);
  const words: { word: string; startTime: string }[] = json.segments[0].words;
  assert.equal(words.map(({ word }) => word).join(""), edited);
  for (const { word, startTime } of before[0]?.words.slice(1) ?? [])
    assert.ok(
      words.some(
        (one) =>
          one.word === word && Number.parseFloat(one.startTime) === Number.parseFloat(startTime),
      ),
      word,
    );
  assert.equal(json.segments.length, before.length);
});

test("Enter divides a paragraph, and Backspace and Delete join paragraphs again", async () => {
  await using page = await openInterview(pages);
  const at = first.indexOf("Við stöndum");
  await placeCaret(page, 0, at);
  await page.keyboard.press("Enter");
  const divided = [first.slice(0, at), first.slice(at), second, third, fourth];
  await untilTexts(page, divided);
  assert.deepEqual(await caretOf(page), { paragraph: 1, offset: 0 });
  await page.keyboard.press("Backspace");
  await untilTexts(page, said);
  assert.deepEqual(await caretOf(page), { paragraph: 0, offset: at });
  await page.keyboard.press("Control+z");
  await untilTexts(page, divided);
  await page.keyboard.press("Control+y");
  await untilTexts(page, said);
  // Segments have no space at their end: joined words get one.
  await placeCaret(page, 0, first.length);
  await page.keyboard.press("Delete");
  await untilTexts(page, [`${first} ${second}`, third, fourth]);
  assert.deepEqual(await caretOf(page), { paragraph: 0, offset: first.length + 1 });
  await page.keyboard.press("Backspace");
  await page.keyboard.type("!");
  await untilTexts(page, [`${first}!${second}`, third, fourth]);
  // On a busy machine, each of the five keys is a step.
  for (let at = 0; at < 5; at++) await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});

test("text typed over several paragraphs replaces them, and undo brings them back", async () => {
  await using page = await openInterview(pages);
  await select(page, [0, 6], [2, 5]);
  await page.keyboard.type("x");
  await untilTexts(page, [`${first.slice(0, 6)}x${third.slice(5)}`, fourth]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  await page.keyboard.press("Delete");
  await untilTexts(page, [`${first.slice(0, 6)}${third.slice(5)}`, fourth]);
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Enter");
  await untilTexts(page, [first.slice(0, 6), third.slice(5).trimStart(), fourth]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  const speakers = await page.locator(".segment-speaker:not(.unnamed)").allTextContents();
  assert.deepEqual(speakers, ["Fréttamaður", "Mælandi S2", "Fréttamaður", "Mælandi S2"]);
});

test("selecting all, typing and undoing keeps every paragraph", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 1, 3);
  await page.keyboard.press("Control+a");
  await typeAsStep(page, "Ný þula");
  await untilTexts(page, ["Ný þula"]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});

test("words before and after the caret move to the neighboring paragraphs", async () => {
  await using page = await openInterview(pages);
  const at = second.indexOf("byrjaði");
  await placeCaret(page, 1, at + 2);
  await page.keyboard.press("Alt+Shift+ArrowUp");
  const up = withTexts({ 0: `${first} ${second.slice(0, at)}`, 1: second.slice(at) });
  await untilTexts(page, up);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  const rest = second.indexOf("vaxa");
  await placeCaret(page, 1, rest);
  await page.keyboard.press("Alt+Shift+ArrowDown");
  await untilTexts(
    page,
    withTexts({ 1: second.slice(0, rest), 2: `${second.slice(rest)} ${third}` }),
  );
});

/** A transcript of 100 paragraphs, in four parts; the last parts are out of view. */
const long = longSegments(2_000);
const longTexts = long.map(({ words }) => words.map(({ word }) => word).join(""));

async function openLong(): Promise<Page> {
  const metadata = { ...interviewMetadata, speakers: {} };
  const name = await createTranscript(pages.service, { metadata, segments: long });
  return await openEditing(pages, name, long.length);
}

test("one press joins the paragraphs at the edge of two parts, and undo divides them", async () => {
  await using page = await openLong();
  const joined = longTexts.toSpliced(31, 2, `${longTexts[31]} ${longTexts[32]}`);
  await placeCaret(page, 32, 0);
  await page.keyboard.press("Backspace");
  await untilTexts(page, joined);
  await page.keyboard.press("Control+z");
  await untilTexts(page, longTexts);
  await placeCaret(page, 31, longTexts[31]?.length ?? 0);
  await page.keyboard.press("Delete");
  await untilTexts(page, joined);
  await page.keyboard.press("Control+z");
  await untilTexts(page, longTexts);
  await select(page, [31, 4], [32, 3]);
  await typeAsStep(page, "að");
  await untilTexts(
    page,
    longTexts.toSpliced(31, 2, `${longTexts[31]?.slice(0, 4)}að${longTexts[32]?.slice(3)}`),
  );
  await page.keyboard.press("Control+z");
  await untilTexts(page, longTexts);
});

test("arrows, Home, End, pages and both ends of the text move the caret, over edges too", async () => {
  await using page = await openLong();
  const length = (at: number) => longTexts[at]?.length ?? 0;
  const moves = async (key: string, paragraph: number, offset: number) => {
    await page.keyboard.press(key);
    await until(async () => {
      const caret = await caretOf(page);
      return caret.paragraph === paragraph && caret.offset === offset;
    }).catch(async () => assert.deepEqual(await caretOf(page), { paragraph, offset }, key));
  };
  await placeCaret(page, 31, length(31));
  await moves("ArrowRight", 32, 0);
  await moves("ArrowLeft", 31, length(31));
  await page.keyboard.press("ArrowDown");
  await until(async () => (await caretOf(page)).paragraph === 32);
  await moves("Home", 32, 0);
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowUp");
  assert.ok([31, 32].includes((await caretOf(page)).paragraph));
  await moves("Control+End", 99, length(99));
  const bottom = await page.evaluate<number>(
    "document.querySelectorAll('.segment p')[99].getBoundingClientRect().bottom - innerHeight",
  );
  assert.ok(bottom < 1, `the caret is ${bottom} px below the screen`);
  await page.keyboard.type("!");
  await moves("Control+Home", 0, 0);
  await page.keyboard.type("¡");
  await page.keyboard.press("PageDown");
  const down = await caretOf(page);
  assert.ok(down.paragraph > 2, JSON.stringify(down));
  await page.keyboard.press("PageUp");
  await until(async () => (await caretOf(page)).paragraph < down.paragraph);
  const edited = [...longTexts];
  edited[0] = `¡${longTexts[0]}`;
  edited[99] = `${longTexts[99]}!`;
  await untilTexts(page, edited);
});

test("a double click selects a word, and typing replaces it", async () => {
  await using page = await openInterview(pages);
  const at = await pointOf(page, 1, second.indexOf("rólega") + 2);
  await page.mouse.dblclick(at.x, at.y);
  await until(() => page.evaluate("getSelection().toString().trim() === 'rólega'"));
  await page.keyboard.type("hratt");
  await until(async () => (await textsOf(page))[1]?.includes("byrjaði hratt") === true);
});
