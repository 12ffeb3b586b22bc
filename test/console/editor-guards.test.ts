// What the editor leaves undone at the wrong moment: while characters are composed, before the
// caret is shown, and for each update of the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import { composed } from "./compose.ts";
import {
  first,
  openEditing,
  openInterview,
  placeCaret,
  textsOf,
  third,
  typeAsStep,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { changeElsewhere, createInterview, segmentsOf, turns } from "./edited-transcript.ts";
import { createTalk, openPlayable, untilPlayed } from "./played-page.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

/** 40 paragraphs: a part of 32 and one of 8. */
const many = Array.from({ length: 40 }, (_, at) => turns[at % turns.length] ?? (["", ""] as const));
const manyTexts = many.map(([, text]) => text);

test("parts that have become short are joined after a composition, not while it goes on", async () => {
  const name = await createInterview(pages.service, { said: many });
  await using page = await openEditing(pages, name, many.length);
  const parts = () => page.locator(".words-part").count();
  // Timers of a second and more wait until the test lets them end.
  await page.evaluate(`(() => {
    const { setTimeout: real } = globalThis;
    const held = [];
    globalThis.setTimeout = (act, ms, ...rest) =>
      ms >= 1000 ? -held.push(act) : real(act, ms, ...rest);
    globalThis.endTimers = () => held.splice(0).forEach((act) => act());
  })()`);
  await placeCaret(page, 39, 0);
  await page.keyboard.press("Backspace");
  const start = manyTexts[38]?.trimEnd() ?? "";
  const joined = (middle: string) => [
    ...manyTexts.slice(0, 38),
    `${start} ${middle}${manyTexts[39]}`,
  ];
  await untilTexts(page, joined(""));
  {
    await using composition = await composed(page, "´");
    await untilTexts(page, joined("´"));
    await page.evaluate("endTimers()");
    assert.equal(await parts(), 2);
    await composition.change("¨");
    await composition.commit("ö");
  }
  await untilTexts(page, joined("ö"));
  await page.evaluate("endTimers()");
  await until(async () => (await parts()) === 1);
  await untilTexts(page, joined("ö"));
});

test("a line break within a composition divides no paragraph", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 0, 3);
  await using composition = await composed(page, "´");
  await untilTexts(page, withTexts({ 0: `${first.slice(0, 3)}´${first.slice(3)}` }));
  // What some input methods send when Enter chooses a word; Chromium's own commands do not.
  await page.evaluate(`document.activeElement.dispatchEvent(new InputEvent("beforeinput", {
    inputType: "insertParagraph", isComposing: true, bubbles: true, cancelable: true,
  }))`);
  await composition.commit("á");
  await untilTexts(page, withTexts({ 0: `${first.slice(0, 3)}á${first.slice(3)}` }));
});

test("keys that an input method receives within a composition change nothing of it", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 0, 3);
  const devtools = await page.context().newCDPSession(page);
  const processed = { key: "Process", code: "KeyA", windowsVirtualKeyCode: 229 } as const;
  const press = async (): Promise<void> => {
    await devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...processed });
    await devtools.send("Input.dispatchKeyEvent", { type: "keyUp", ...processed });
  };
  const shown = (text: string) =>
    untilTexts(page, withTexts({ 0: `${first.slice(0, 3)}${text}${first.slice(3)}` }));
  for (const [text, selectionStart, selectionEnd] of [
    ["þa", 2, 2],
    ["það", 0, 3],
    ["það er", 3, 3],
  ] as const) {
    await press();
    await devtools.send("Input.imeSetComposition", { text, selectionStart, selectionEnd });
    await shown(text);
    await press();
  }
  await devtools.send("Input.insertText", { text: "það" });
  await shown("það");
  await page.keyboard.type("!");
  await shown("það!");
  await devtools.detach();
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await untilTexts(page, withTexts({}));
});

test("a version of others waits while characters are composed, and then joins", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  // Each wait for the end of the composition lasts until the test lets it end.
  await page.evaluate(`(() => {
    const { setTimeout: real } = globalThis;
    const held = [];
    globalThis.setTimeout = (act, ms, ...rest) =>
      ms === 200 ? -held.push(act) : real(act, ms, ...rest);
    globalThis.waiting = () => held.length;
    globalThis.endWaits = () => held.splice(0).forEach((act) => act());
  })()`);
  await placeCaret(page, 0, 3);
  const theirs = third.replace(/^\S+/, "Annað");
  {
    await using composition = await composed(page, "´");
    const changed = turns.map(([who, said], at) => [who, at === 2 ? theirs : said] as const);
    await changeElsewhere(pages.service, name, { segments: segmentsOf(changed) });
    await until(async () => {
      const isJoined = (await textsOf(page))[2] === theirs;
      return isJoined || (await page.evaluate<number>("waiting()")) > 0;
    });
    assert.equal((await textsOf(page))[2], third, "it waits");
    await composition.commit("á");
  }
  await page.evaluate("endWaits()");
  await untilTexts(page, withTexts({ 0: `${first.slice(0, 3)}á${first.slice(3)}`, 2: theirs }));
});

test("React does not walk through the edited text when the page changes", async () => {
  const name = await createInterview(pages.service, { said: many });
  await using page = await openEditing(pages, name, many.length);
  await placeCaret(page, 0, 3);
  await page.evaluate(`(() => {
    const { get } = Object.getOwnPropertyDescriptor(Node.prototype, "firstChild");
    globalThis.walked = new Set();
    Object.defineProperty(Node.prototype, "firstChild", {
      configurable: true,
      get() {
        if (this instanceof HTMLParagraphElement) walked.add(this);
        return get.call(this);
      },
    });
  })()`);
  await page.keyboard.type("x");
  // The page now says so: React has changed it.
  await page.getByText("drög geymd hér").waitFor();
  const walked = await page.evaluate<number>("walked.size");
  assert.ok(walked < 10, `${walked} of 40 paragraphs`);
});

test("a letter does not search the page, and the playback asks the browser for no frames", async () => {
  await using page = await openPlayable(pages, await createTalk(pages));
  await placeCaret(page, 3, 0);
  await page.evaluate(`(() => {
    globalThis.asked = { searches: 0, frames: 0 };
    const { querySelector } = Document.prototype;
    Document.prototype.querySelector = function (selector) {
      asked.searches += 1;
      return querySelector.call(this, selector);
    };
    const { requestAnimationFrame } = window;
    window.requestAnimationFrame = (callback) => {
      asked.frames += 1;
      return requestAnimationFrame.call(window, callback);
    };
  })()`);
  await page.keyboard.type("abc");
  assert.equal(await page.evaluate("asked.searches"), 0);
  await page.keyboard.press("Escape");
  await untilPlayed(page, ({ place }) => place > 1);
  const frames = await page.evaluate<number>("asked.frames");
  await untilPlayed(page, ({ place }) => place > 3);
  const more = (await page.evaluate<number>("asked.frames")) - frames;
  assert.ok(more <= 10, `${more} frames in two seconds`);
});

test("while the text changes, no text beyond the screen is painted, until the user scrolls", async () => {
  const name = await createInterview(pages.service, { said: many });
  await using page = await openEditing(pages, name, many.length);
  await page.keyboard.press("Control+f");
  const panel = page.getByRole("region", { name: "Leita og skipta út" });
  await panel.getByRole("textbox", { name: "Leita að" }).fill("a");
  await page.evaluate(
    `document.querySelectorAll(".segment p")[20].scrollIntoView({ block: "center" })`,
  );
  const beyond = () =>
    page.evaluate<number>(`[...(CSS.highlights.get("hlust-hit") ?? [])].filter((range) => {
      const { top, bottom } = range.startContainer.parentElement.closest(".segment").getBoundingClientRect();
      return bottom <= 0 || top >= innerHeight;
    }).length`);
  await until(async () => (await beyond()) > 0);
  await placeCaret(page, 20, 3);
  await page.keyboard.type("x");
  await until(async () => (await beyond()) === 0);
  await page.evaluate("scrollBy(0, 2)");
  await until(async () => (await beyond()) > 0);
});

test("margins out of view are written when the page is idle, after the caret", async () => {
  const metadata = { ...interviewMetadata, speakers: {} };
  const name = await createTranscript(pages.service, { metadata, segments: longSegments(6_000) });
  await using page = await pages.open(`/${name}`);
  await page.locator(".segment").nth(299).waitFor({ state: "attached" });
  // The page is idle only when the test lets it be.
  await page.evaluate(`(() => {
    const held = [];
    globalThis.requestIdleCallback = (act) => held.push(act);
    globalThis.beIdle = () => {
      while (held.length > 0) held.shift()({ timeRemaining: () => 50 });
    };
  })()`);
  await page.keyboard.press("e");
  await page
    .getByRole("textbox", { name: "Textinn, í vinnslu" })
    .and(page.locator(":focus"))
    .waitFor();
  const empty = () =>
    page.evaluate<number[]>(`[...document.querySelectorAll(".segment")].flatMap((one, at) =>
      one.querySelector(".segment-time")?.textContent ? [] : [at])`);
  const waiting = await empty();
  assert.ok(waiting.length > 100, `${waiting.length} margins wait`);
  assert.ok((waiting[0] ?? 0) > 10, `the margin ${waiting[0]} waits`);
  await page.evaluate("beIdle()");
  assert.deepEqual(await empty(), []);
});

test("after a click on undo, redo or save, one types on in the text", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 0, 0);
  await typeAsStep(page, "Jæja. ");
  for (const [button, letter, text] of [
    ["Afturkalla", "n", `n${first}`],
    ["Afturkalla", "g", `g${first}`],
    ["Vista", "u", `gu${first}`],
  ] as const) {
    await page.getByRole("button", { name: button, exact: true }).click();
    // A letter without the text's focus would go to another page.
    await typeAsStep(page, letter);
    await untilTexts(page, withTexts({ 0: text }));
  }
  // With the keyboard, the button keeps the focus while it can be pressed again.
  await page.keyboard.press("Enter");
  const undo = page.getByRole("button", { name: "Afturkalla", exact: true });
  await undo.press("Enter");
  for (const text of ["gu", "g"]) {
    await untilTexts(page, withTexts({ 0: `${text}${first}` }));
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Afturkalla");
    await page.keyboard.press("Enter");
  }
  await page.locator("[contenteditable=true]:focus").waitFor();
  await untilTexts(page, withTexts({}));
});
