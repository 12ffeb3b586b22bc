// Composing characters, pasting and dragging in the text of a transcript that is edited.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { compose, composed } from "./compose.ts";
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
  third,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { createInterview, turns } from "./edited-transcript.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

for (const [steps, result] of [
  [["´"], "á"],
  [["´"], "ý"],
  [["¨"], "ö"],
  [["þ"], "þ"],
  [["n", "ni", "に"], "日本"],
  [["´"], ""],
] as const) {
  const shown = result === "" ? "a cancelled composition" : `a composed ${result}`;
  test(`${shown} leaves the text as it should be, wherever it is`, async () => {
    await using page = await openInterview(pages);
    const expected = [...said];
    // From the end of a paragraph to its start, so that no offset is moved.
    for (const [paragraph, offset] of [
      [0, first.length],
      [0, 3],
      [1, 0],
    ] as const) {
      const text = expected[paragraph] ?? "";
      await placeCaret(page, paragraph, offset);
      await compose(page, steps, result);
      expected[paragraph] = text.slice(0, offset) + result + text.slice(offset);
      await untilTexts(page, expected);
      await page.keyboard.type("x");
      expected[paragraph] = `${text.slice(0, offset)}${result}x${text.slice(offset)}`;
      await untilTexts(page, expected);
    }
  });
}

test("a composition over a selection replaces it, also over several paragraphs", async () => {
  await using page = await openInterview(pages);
  for (const [step, capital, small] of [
    ["´", "Á", "á"],
    ["¨", "Ö", "ö"],
    ["þ", "Þ", "þ"],
  ] as const) {
    await select(page, [0, 0], [0, 5]);
    await compose(page, [step], capital);
    await untilTexts(page, withTexts({ 0: `${capital}${first.slice(5)}` }));
    await page.keyboard.press("Control+z");
    await untilTexts(page, said);
    await select(page, [0, 6], [2, 5]);
    await compose(page, [step], small);
    await untilTexts(page, [`${first.slice(0, 6)}${small}${third.slice(5)}`, fourth]);
    await page.keyboard.press("Control+z");
    await untilTexts(page, said);
  }
});

test("an emoji that no key types replaces a selection over paragraphs, and the last one's speaker stays", async () => {
  await using page = await openInterview(pages);
  await select(page, [0, 0], [1, 3]);
  await page.keyboard.insertText("😀");
  await untilTexts(page, [`😀${second.slice(3)}`, third, fourth]);
  const speakers = () => page.locator(".segment-speaker").allTextContents();
  assert.deepEqual(await speakers(), ["Mælandi S2", "Fréttamaður", "Mælandi S2"]);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  assert.deepEqual(await speakers(), ["Fréttamaður", "Mælandi S2", "Fréttamaður", "Mælandi S2"]);
});

test("ð, æ, þ and their capitals are composed anywhere in a text, also at the edges of its parts", async () => {
  const parts = Array.from({ length: 40 }, (_, at) => turns[at % turns.length] ?? turns[0]);
  const texts = parts.map((turn) => turn?.[1] ?? "");
  const name = await createInterview(pages.service, { said: parts.filter((turn) => !!turn) });
  await using page = await openEditing(pages, name, 40);
  assert.equal(await page.locator(".words-part").count(), 2);
  const undo = async (): Promise<void> => {
    await page.keyboard.press("Control+z");
    await untilTexts(page, texts);
  };
  for (const [result, paragraph, offset] of [
    ["ð", 0, 3],
    ["æ", 31, texts[31]?.length ?? 0],
    ["Ð", 32, 0],
    ["Æ", 32, 4],
    ["þ", 39, 0],
  ] as const) {
    await placeCaret(page, paragraph, offset);
    await compose(page, [result], result);
    const text = texts[paragraph] ?? "";
    const expected = text.slice(0, offset) + result + text.slice(offset);
    await untilTexts(page, texts.with(paragraph, expected));
    await undo();
  }
  // Below the bar over the text.
  await page.evaluate(
    `document.querySelectorAll(".segment")[31].scrollIntoView({ block: "center" })`,
  );
  await select(page, [31, 3], [32, 5]);
  await compose(page, ["´"], "á");
  const joined = `${texts[31]?.slice(0, 3)}á${texts[32]?.slice(5)}`;
  await untilTexts(page, texts.toSpliced(31, 2, joined));
  await undo();
  // The parts of the page are joined and divided later, but never during a composition.
  await placeCaret(page, 32, 0);
  await using composition = await composed(page, "´");
  await untilTexts(page, texts.with(32, `´${texts[32]}`));
  await composition.commit("é");
  await untilTexts(page, texts.with(32, `é${texts[32]}`));
});

/** The content of a draft that is empty. */
const noDraft = gzipSync("").toString("base64");

test("characters are composed while a draft is written, and the next draft has them", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja ");
  {
    await using composition = await composed(page, "´");
    await page.getByText("drög geymd hér").waitFor();
    await untilTexts(page, withTexts({ 0: `Jæja ´${first}` }));
    await composition.change("¨");
    await composition.commit("ö");
  }
  await untilTexts(page, withTexts({ 0: `Jæja ö${first}` }));
  await page.locator("nav a").first().click();
  await until(async () => {
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}/draft`);
    const content = gunzipSync(Buffer.from(json.content ?? noDraft, "base64"));
    return content.includes("Jæja ö");
  });
});

test("characters are composed on a phone", async () => {
  const context = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`, { context });
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Breyta texta" }).tap();
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  for (const [paragraph, offset, result] of [
    [0, 6, "á"],
    [1, 0, "Þ"],
  ] as const) {
    const at = await pointOf(page, paragraph, offset);
    await page.touchscreen.tap(at.x, at.y);
    await until(async () => {
      const caret = await caretOf(page);
      return caret.paragraph === paragraph && caret.offset === offset;
    });
    await compose(page, [result === "á" ? "´" : result], result);
  }
  const changed = { 0: `${first.slice(0, 6)}á${first.slice(6)}`, 1: `Þ${second}` };
  await untilTexts(page, withTexts(changed));
  // A keyboard of a phone replaces the word before the caret when a suggestion is chosen.
  await compose(page, ["Þj", "Þja"], "Þjá");
  await untilTexts(page, withTexts({ ...changed, 1: `ÞÞjá${second}` }));
});

test("a suggestion of the spelling checker replaces a word, which keeps its times and is undone", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  const opened = await wordsOf(name);
  const at = first.indexOf("hækkað");
  await select(page, [0, at], [0, at + "hækkað".length]);
  // What Chromium does when a suggestion is chosen in its menu, which tests cannot open.
  const isPrevented = await page.evaluate<boolean>(`(() => {
    const { anchorNode: text, anchorOffset: start, focusOffset: end } = getSelection();
    const transfer = new DataTransfer();
    transfer.setData("text/plain", "lækkað");
    const options = {
      inputType: "insertReplacementText",
      dataTransfer: transfer,
      targetRanges: [new StaticRange({
        startContainer: text, startOffset: start, endContainer: text, endOffset: end,
      })],
      bubbles: true,
      cancelable: true,
      composed: true,
    };
    const goesOn = text.parentElement.dispatchEvent(new InputEvent("beforeinput", options));
    if (goesOn) {
      text.replaceData(start, end - start, "lækkað");
      getSelection().collapse(text, start + 6);
      text.parentElement.dispatchEvent(new InputEvent("input", { ...options, cancelable: false }));
    }
    return !goesOn;
  })()`);
  assert.equal(isPrevented, false);
  const changed = first.replace("hækkað", "lækkað");
  await untilTexts(page, withTexts({ 0: changed }));
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const replaced = (word: string) => (word === "hækkað " ? "lækkað " : word);
  assert.deepEqual(
    await wordsOf(name),
    opened.map(({ word, ...times }) => ({ ...times, word: replaced(word) })),
  );
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
  await page.keyboard.press("Control+Shift+z");
  await untilTexts(page, withTexts({ 0: changed }));
});

interface SavedWord {
  readonly word: string;
  readonly startTime: string;
  readonly endTime: string;
}

/** Returns the words of a transcript on the service. */
async function wordsOf(name: string): Promise<SavedWord[]> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  return json.segments.flatMap(({ words }: { readonly words: SavedWord[] }) => words);
}

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

test("what is dropped from another program comes in as plain text, and its lines become paragraphs", async () => {
  await using page = await openInterview(pages);
  const { x, y } = await pointOf(page, 1, 3);
  // A real drag from another program cannot begin in a test; the page receives the same event.
  const isTaken = await page.evaluate<boolean>(`(() => {
    const data = new DataTransfer();
    data.setData("text/html", '<b onclick="x()">feitt</b><img src="nothing"><p>stórt</p>');
    data.setData("text/plain", "feitt\\r\\nstórt ");
    const event = new DragEvent("drop", {
      dataTransfer: data, clientX: ${x}, clientY: ${y}, bubbles: true, cancelable: true,
    });
    return !document.elementFromPoint(${x}, ${y}).dispatchEvent(event);
  })()`);
  assert.equal(isTaken, true, "the browser inserts nothing itself");
  await untilTexts(page, [
    first,
    `${second.slice(0, 3)}feitt`,
    `stórt ${second.slice(3)}`,
    third,
    fourth,
  ]);
  assert.equal(await page.locator(".segment p :not(br)").count(), 0);
  await page.keyboard.press("Control+z");
  await untilTexts(page, said);
});
