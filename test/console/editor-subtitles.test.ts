// The subtitles of the text while it is edited, in Chromium and the real service.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { readSubtitles } from "../../src/transcripts/subtitles/read-subtitles.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import {
  caretOf,
  first,
  openEditing,
  placeCaret,
  second,
  third,
  typeAsStep,
} from "./edited-page.ts";
import { createInterview } from "./edited-transcript.ts";
import { filmOf } from "./film.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

const panelOf = (page: Page) => page.getByRole("region", { name: "Skjátextar" });

/** Returns the texts of the subtitles in the panel, each on one line. */
function cuesOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `Array.from(document.querySelectorAll(".edit-cue-lines"), (one) => one.textContent.replaceAll("\\n", " "))`,
  );
}

async function exportedCues(name: string): Promise<string[]> {
  const answer = await fetch(`${pages.service.address}/v1alpha1/${name}:export?format=SRT`, {
    headers: { authorization: `Bearer ${pages.service.key}` },
  });
  return readSubtitles(await answer.text()).map(({ spans }) =>
    spans
      .map(({ text }) => text)
      .join("")
      .replaceAll("\n", " ")
      .trim(),
  );
}

async function openPanel(page: Page): Promise<void> {
  await page.keyboard.press("Shift+F2");
  await panelOf(page).locator(".edit-cue").first().waitFor();
}

test("the subtitles follow the edited text, and are those of the file that is exported after saving", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await openPanel(page);
  assert.deepEqual(await cuesOf(page), await exportedCues(name));
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Góðan og blessaðan daginn, kæru hlustendur nær og fjær. ");
  await until(async () => (await cuesOf(page))[0]?.startsWith("Góðan og blessaðan") === true);
  const edited = await cuesOf(page);
  // These words in the time of a few are read too fast.
  await panelOf(page)
    .getByText(/stafir á sekúndu, mest 17/)
    .first()
    .waitFor();
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  assert.deepEqual(edited, await exportedCues(name));
  await page.keyboard.press("Shift+F2");
  await until(async () => (await panelOf(page).count()) === 0);
});

test("a subtitle that is chosen places the caret at its words, and the caret marks its subtitle", async () => {
  await using page = await openEditing(pages, await createInterview(pages.service));
  await openPanel(page);
  const cues = await cuesOf(page);
  const marked = () => page.locator(".edit-cue[aria-current] .edit-cue-lines").allInnerTexts();
  const at = cues.findIndex((text) => text.startsWith(third.slice(0, 20)));
  await placeCaret(page, 2, 5);
  await until(async () => (await marked()).join().replaceAll("\n", " ") === cues[at]);
  // F6 leads to the list, which is one tab stop.
  await panelOf(page).locator(".edit-cue[tabindex='0']").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator(".edit-cue[tabindex='0']").count(), 1);
  await page.keyboard.press("Enter");
  const offset = `${first} ${second}`.indexOf(cues[2] ?? "?");
  const caret = await caretOf(page);
  const before = caret.paragraph === 0 ? 0 : first.length + 1;
  assert.deepEqual([before + caret.offset, caret.paragraph < 2], [offset, true]);
  assert.equal(await page.evaluate("document.activeElement.isContentEditable"), true);
  // The caret is where typing continues.
  await typeAsStep(page, "Sko, ");
  await until(async () => (await cuesOf(page)).some((text) => text.includes("Sko, ")));
  await panelOf(page).locator(".edit-cue").nth(1).click();
  await page.keyboard.press("Control+z");
  await until(async () => JSON.stringify(await cuesOf(page)) === JSON.stringify(cues));
  await checkLooks(page, "transcript-edited-subtitles", someLooks);
});

test("buttons step through the subtitles that break a rule, and what is played is shown in the picture", async () => {
  const { samples, segments } = interview();
  const metadata = { ...interviewMetadata, fileType: "VIDEO" };
  const name = await createTranscript(pages.service, { metadata, segments }, filmOf(samples));
  await using page = await openEditing(pages, name);
  await until(() => page.evaluate<boolean>("document.querySelector('video').readyState > 0"));
  await placeCaret(page, 2, 0);
  await page.keyboard.type("Þessu þurfum við öll að velta rækilega fyrir okkur hér og nú. ");
  await openPanel(page);
  const broken = await page.locator(".edit-cue-broken").count();
  assert.ok(broken > 0);
  const next = panelOf(page).getByRole("button", { name: "Næsta regluvik" });
  const seen: string[] = [];
  for (let step = 0; step <= broken; step += 1) {
    await next.click();
    seen.push(await page.locator(".edit-cue[aria-current]").innerText());
  }
  assert.equal(seen[0], seen.at(-1));
  for (const text of seen) assert.match(text, /mest|minnst/);
  await page.locator(".segment-time").nth(1).click();
  const caption = () => page.locator(".picture-caption").textContent();
  await until(async () => second.startsWith(((await caption()) ?? "?").split("\n")[0] ?? "?"));
  const now = await page.locator(".edit-cue[aria-current] .edit-cue-lines").textContent();
  assert.ok(now !== null && second.includes(now.split("\n")[0] ?? "?"), `${now}`);
  await panelOf(page).getByRole("button", { name: "Loka", exact: true }).click();
  assert.equal(await caption(), "");
  assert.equal(await page.evaluate("document.activeElement.isContentEditable"), true);
});

test("with eight hours of text, few subtitles are on the page, and the ones at the caret are among them", async () => {
  const segments = longSegments(72_000);
  const metadata = { ...interviewMetadata, speakers: {} };
  const name = await createTranscript(pages.service, { metadata, segments });
  await using page = await openEditing(pages, name, 3_600);
  await page.keyboard.press("Control+End");
  await openPanel(page);
  const rows = page.locator(".edit-cue");
  await until(async () => (await page.locator(".edit-cue[aria-current]").count()) === 1);
  const cues = await exportedCues(name);
  assert.ok((await rows.count()) < 200);
  assert.equal((await cuesOf(page)).at(-1), cues.at(-1));
  // The caret far away, and the list scrolled to where it has more.
  await page.keyboard.press("Control+Home");
  await until(async () => (await cuesOf(page))[0] === cues[0]);
  const count = await rows.count();
  await page.evaluate(`(() => {
    const list = document.querySelector(".edit-cues-list");
    list.scrollTop = list.scrollHeight;
  })()`);
  await until(async () => (await rows.count()) > count);
  await page.keyboard.type("Fyrst. ");
  await until(async () => (await cuesOf(page))[0]?.startsWith("Fyrst. ") === true);
});
