// Composing characters, pasting and dragging in the text of a transcript that is edited.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import {
  first,
  fourth,
  openInterview,
  placeCaret,
  pointOf,
  said,
  second,
  select,
  third,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

/** Composes text as a dead key or an input method does, without pressing other keys. */
async function compose(page: Page, steps: readonly string[], result: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  for (const text of steps) {
    await devtools.send("Input.imeSetComposition", {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  }
  if (result !== "") await devtools.send("Input.insertText", { text: result });
  else
    await devtools.send("Input.imeSetComposition", {
      text: "",
      selectionStart: 0,
      selectionEnd: 0,
    });
  await devtools.detach();
}

for (const [steps, result] of [
  [["´"], "á"],
  [["´"], "ý"],
  [["¨"], "ö"],
  [["þ"], "þ"],
  [["n", "ni", "に"], "日本"],
  [["´"], ""],
] as const) {
  const shown = result === "" ? "a cancelled composition" : `a composed ${result}`;
  for (const [where, paragraph, offset] of [
    ["in a word", 0, 3],
    ["at the start of a paragraph", 1, 0],
    ["at the end of a paragraph", 0, first.length],
  ] as const) {
    test(`${shown} ${where} leaves the text as it should be`, async () => {
      await using page = await openInterview(pages);
      await placeCaret(page, paragraph, offset);
      await compose(page, steps, result);
      const text = said[paragraph] ?? "";
      const expected = text.slice(0, offset) + result + text.slice(offset);
      await untilTexts(page, withTexts({ [paragraph]: expected }));
      await page.keyboard.type("x");
      await untilTexts(
        page,
        withTexts({ [paragraph]: `${text.slice(0, offset)}${result}x${text.slice(offset)}` }),
      );
    });
  }
}

test("a composition over a selection replaces it, also over several paragraphs", async () => {
  await using page = await openInterview(pages);
  await select(page, [0, 0], [0, 5]);
  await compose(page, ["´"], "Á");
  await untilTexts(page, withTexts({ 0: `Á${first.slice(5)}` }));
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  await select(page, [0, 6], [2, 5]);
  await compose(page, ["´"], "á");
  await untilTexts(page, [`${first.slice(0, 6)}á${third.slice(5)}`, fourth]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});

test("an emoji that no key types replaces a selection over paragraphs, and the last one's speaker stays", async () => {
  await using page = await openInterview(pages);
  await select(page, [0, 0], [1, 3]);
  await page.keyboard.insertText("😀");
  await untilTexts(page, [`😀${second.slice(3)}`, third, fourth]);
  const speakers = () => page.locator(".segment-speaker").allTextContents();
  assert.deepEqual(await speakers(), ["Rödd S2", "Fréttamaður", "Rödd S2"]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  assert.deepEqual(await speakers(), ["Fréttamaður", "Rödd S2", "Fréttamaður", "Rödd S2"]);
});

/** Puts text on the clipboard, and pastes it at the caret. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press("Control+v");
}

/** Copies HTML from another page, and pastes it at the caret. */
async function pasteHtml(page: Page, html: string): Promise<void> {
  const other = await page.context().newPage();
  await other.setContent(html);
  await other.keyboard.press("Control+a");
  await other.keyboard.press("Control+c");
  await other.close();
  await page.bringToFront();
  await page.keyboard.press("Control+v");
}

test("pasted HTML comes in as plain text, and its lines become paragraphs", async () => {
  await using page = await openInterview(pages);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await placeCaret(page, 0, 6);
  await pasteHtml(page, '<b style="color:red">feitt</b> <i>og</i> <h1>stórt</h1>');
  await untilTexts(page, [
    `${first.slice(0, 6)}feitt og`,
    `stórt${first.slice(6)}`,
    second,
    third,
    fourth,
  ]);
  assert.equal(await page.locator(".segment p :not(br)").count(), 0);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  await paste(page, "eitt\r\n\r\ntvö\u0007\nþrjú");
  await untilTexts(page, [
    `${first.slice(0, 6)}eitt`,
    "tvö",
    `þrjú${first.slice(6)}`,
    second,
    third,
    fourth,
  ]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});

test("five thousand words are pasted at once, and undone at once", async () => {
  await using page = await openInterview(pages);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const lines = Array.from({ length: 250 }, (_, at) => `lína ${at} ${"orð ".repeat(18).trim()}`);
  await placeCaret(page, 2, third.length);
  await paste(page, lines.join("\n"));
  const [line = "", ...others] = lines;
  await untilTexts(page, [first, second, third + line, ...others, fourth]);
  // Long parts are divided later, which changes neither the text nor what is undone.
  await until(() => page.evaluate("document.querySelectorAll('.words-part').length > 4"));
  await untilTexts(page, [first, second, third + line, ...others, fourth]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});

test("cut and copied text is plain, and can be pasted elsewhere", async () => {
  await using page = await openInterview(pages);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await select(page, [0, 6], [1, 4]);
  await page.keyboard.press("Control+c");
  const copied = `${first.slice(6)}\n${second.slice(0, 4)}`;
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), copied);
  await untilTexts(page, said);
  await page.keyboard.press("Control+x");
  await untilTexts(page, [first.slice(0, 6) + second.slice(4), third, fourth]);
  await placeCaret(page, 2, fourth.length);
  await page.keyboard.press("Control+v");
  await untilTexts(page, [
    first.slice(0, 6) + second.slice(4),
    third,
    `${fourth}${first.slice(6)}`,
    second.slice(0, 4),
  ]);
});

test("selected text is dragged to another paragraph", async () => {
  await using page = await openInterview(pages);
  await select(page, [0, 0], [0, 6]);
  const from = await pointOf(page, 0, 3);
  const to = await pointOf(page, 2, 5);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 20, from.y + 10);
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  const moved = withTexts({
    0: first.slice(6),
    2: third.slice(0, 5) + first.slice(0, 6) + third.slice(5),
  });
  await untilTexts(page, moved);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});
