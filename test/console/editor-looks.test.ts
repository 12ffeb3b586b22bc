// Reading and editing at 200 %, on a phone, in forced colors, and for screen readers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { caretOf, first, fourth, second, third, untilTexts, withTexts } from "./edited-page.ts";
import { createInterview, versionsOf } from "./edited-transcript.ts";
import { openTestPages, findingsOfAxe, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
let playable: string;
before(async () => {
  pages = await openTestPages();
  const { samples, segments } = interview();
  const media = Uint8Array.from(wavOf(samples));
  playable = await createTranscript(
    pages.service,
    { metadata: interviewMetadata, segments },
    media,
  );
});
after(() => pages[Symbol.asyncDispose]());

/** A window of 1280 x 800 pixels at 200 %. */
const zoomed: BrowserContextOptions = {
  viewport: { width: 640, height: 400 },
  deviceScaleFactor: 2,
};
const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 3,
  isMobile: true,
  hasTouch: true,
};

/** The names and times of the interview. While the text is edited, they are buttons. */
const margin = [
  "Fréttamaður",
  "0:00",
  "Mælandi S2",
  "0:07",
  "Fréttamaður",
  "0:18",
  "Mælandi S2",
  "0:22",
];

const editedText = (page: Page) => page.getByRole("textbox", { name: "Textinn, í vinnslu" });

async function open(name: string, context: BrowserContextOptions = {}): Promise<Page> {
  const page = await pages.open(`/${name}`, { context });
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  if (name === playable) await page.locator(".player").waitFor();
  return page;
}

/** Asserts that nothing is wider than the window. */
async function assertNoSideScroll(page: Page, width: number): Promise<void> {
  const { scrollWidth } = await page.evaluate<{ scrollWidth: number }>(
    "({ scrollWidth: document.documentElement.scrollWidth })",
  );
  assert.ok(scrollWidth <= width, `${scrollWidth} px wide`);
}

/** Returns how many pixels of the height show the text, and not what is over it. */
function textHeight(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    let count = 0;
    for (let y = 0; y < innerHeight; y += 2) {
      if (document.elementFromPoint(innerWidth / 2, y)?.closest(".segment")) count += 2;
    }
    return count;
  })()`);
}

/** Whether the line of the caret is on the screen, and nothing covers it. */
function isCaretSeen(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const { focusNode, focusOffset } = getSelection();
    const range = document.createRange();
    range.setStart(focusNode, Math.max(0, focusOffset - 1));
    range.setEnd(focusNode, focusOffset);
    const { left, top, bottom } = range.getBoundingClientRect();
    const at = document.elementFromPoint(left + 1, (top + bottom) / 2);
    return at !== null && focusNode.parentElement.closest("p").contains(at);
  })()`);
}

/** Returns the names of the visible controls that cannot be brought into view. */
function unreachable(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const controls = [...document.querySelectorAll("main button, main a, main select, main input")];
    return controls.filter((one) => {
      if (!one.checkVisibility({ opacityProperty: true })) return false;
      one.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return left < -1 || right > innerWidth + 1 || top < -1 || bottom > innerHeight + 1;
    }).map((one) => one.textContent || one.ariaLabel);
  })()`);
}

test("at 200 % nothing is lost, nothing scrolls sideways, and the text keeps room", async () => {
  await using page = await open(playable, zoomed);
  await page.evaluate("document.querySelectorAll('.segment')[2].scrollIntoView()");
  await assertNoSideScroll(page, 640);
  const reading = await textHeight(page);
  assert.ok(reading >= 160, `reading: ${reading} px`);
  assert.deepEqual(await unreachable(page), []);
  await page.keyboard.press("e");
  await editedText(page).waitFor();
  await page.evaluate("document.querySelectorAll('.segment')[2].scrollIntoView()");
  await assertNoSideScroll(page, 640);
  const editing = await textHeight(page);
  assert.ok(editing >= 100, `editing: ${editing} px`);
  assert.deepEqual(await unreachable(page), []);
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" Já.");
  assert.equal(await isCaretSeen(page), true);
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("Jæja. ");
  assert.equal(await isCaretSeen(page), true);
});

test("on a phone a text is read, corrected by touch and saved, with the keyboard on the screen", async () => {
  const name = await createInterview(pages.service);
  await using page = await open(name, phone);
  await assertNoSideScroll(page, 390);
  await page.getByRole("button", { name: "Breyta texta" }).tap();
  await editedText(page).waitFor();
  await assertNoSideScroll(page, 390);
  // The keyboard takes two fifths of the screen.
  await page.setViewportSize({ width: 390, height: 506 });
  const last = page.locator(".segment p").nth(3);
  await last.scrollIntoViewIfNeeded();
  await last.tap();
  await until(async () => (await caretOf(page)).paragraph === 3);
  await page.keyboard.press("End");
  await page.keyboard.insertText("x");
  assert.equal(await isCaretSeen(page), true);
  await page.keyboard.press("Backspace");
  assert.ok((await textHeight(page)) >= 150);
  await page.locator(".segment p").nth(0).tap();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("Jæja. ");
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}` }));
  // What a finger presses is at least 24 pixels wide and high.
  const small = await page.evaluate<string[]>(`[...document.querySelectorAll("main button, main a")]
    .filter((one) => one.checkVisibility())
    .filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      return width < 24 || height < 24;
    }).map((one) => one.outerHTML.slice(0, 90))`);
  assert.deepEqual(small, []);
  await page.getByRole("button", { name: "Vista", exact: true }).tap();
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 2);
  await page.getByRole("button", { name: "Lesa", exact: true }).tap();
  await page.locator(".words-text:not([contenteditable])").waitFor();
});

/** Returns the computed style of an element, or of a pseudo-element of it. */
function styleOf(page: Page, selector: string, property: string, pseudo = ""): Promise<string> {
  const args = [`document.querySelector(${JSON.stringify(selector)})`, JSON.stringify(pseudo)];
  return page.evaluate<string>(`getComputedStyle(${args.join(", ")})[${JSON.stringify(property)}]`);
}

/** Returns what a system color is here. */
function systemColor(page: Page, name: string): Promise<string> {
  return page.evaluate<string>(`(() => {
    const probe = document.createElement("i");
    probe.style.setProperty("background-color", ${JSON.stringify(name)});
    document.body.append(probe);
    const { backgroundColor } = getComputedStyle(probe);
    probe.remove();
    return backgroundColor;
  })()`);
}

test("in forced colors, marks have the system's colors and more than a color, in both states", async () => {
  await using page = await open(playable, { forcedColors: "active" });
  const highlight = await systemColor(page, "Highlight");
  for (const state of ["reading", "editing"]) {
    if (state === "editing") {
      await page.keyboard.press("e");
      await editedText(page).waitFor();
    }
    const now = "::highlight(hlust-now)";
    assert.equal(await styleOf(page, ".segment p", "backgroundColor", now), highlight, state);
    assert.match(await styleOf(page, ".segment p", "textDecorationLine", now), /underline/, state);
    assert.deepEqual(await findingsOfAxe(page), [], state);
  }
  await page.keyboard.press("Control+f");
  await page.locator(".find-panel").first().waitFor();
  await page.keyboard.press("Escape");
  const hit = "::highlight(hlust-hit-now)";
  assert.equal(await styleOf(page, ".segment p", "backgroundColor", hit), highlight);
  await page.keyboard.press("Shift+F2");
  await page.locator(".edit-cue[aria-current]").waitFor();
  assert.equal(await styleOf(page, ".edit-cue[aria-current]", "outlineStyle"), "solid");
  assert.deepEqual(await findingsOfAxe(page), [], "with subtitles");
  // Buttons have an edge, and the focus is seen.
  await page.getByRole("button", { name: "Lesa", exact: true }).focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  assert.notEqual(await styleOf(page, ".edit-bar .button:focus", "outlineStyle"), "none");
  assert.notEqual(await styleOf(page, ".edit-bar .button:focus", "borderTopStyle"), "none");
});

test("a text that is edited is printed without its notes, panels and controls", async () => {
  const name = await createInterview(pages.service);
  await using page = await open(name);
  const edit = async () => {
    await page.keyboard.press("e");
    await editedText(page).waitFor();
  };
  await edit();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("Jæja. ");
  await page.getByText("Drög geymd").waitFor();
  await page.reload();
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await edit();
  const own = [".note", ".edit-bar", ".find-panel", ".edit-cues"];
  await page.keyboard.press("Shift+F2");
  await page.locator(".edit-cue").first().waitFor();
  await editedText(page).focus();
  await page.keyboard.press("Control+f");
  const report = { session: "desk", position: "5s" };
  await pages.service.call("POST", `/v1alpha1/${name}:reportPresence`, report);
  await page.locator(".people").waitFor();
  for (const selector of own) await page.locator(selector).first().waitFor();
  await page.emulateMedia({ media: "print" });
  for (const selector of [...own, ".people", "button", "select", "input"]) {
    const seen = page.locator(selector).filter({ visible: true });
    assert.deepEqual(await seen.allInnerTexts(), selector === "button" ? margin : [], selector);
  }
  const visible = await page.evaluate<string>("document.body.innerText.replaceAll(/\\s+/g, ' ')");
  assert.match(visible, /Viðtal um hlaupið í Skeiðará .*Fréttamaður 0:00 Jæja\. Góðan daginn\./);
  assert.ok(visible.includes(fourth.slice(-30)));
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
});

async function accessibleNodes(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  return (await devtools.send("Accessibility.getFullAXTree")).nodes;
}

type AxNode = Awaited<ReturnType<typeof accessibleNodes>>[number];

/**
 * Returns what a screen reader finds below the element with a name: roles and names, without
 * groups and the boxes of lines.
 */
async function spokenTree(page: Page, name: string): Promise<string[]> {
  const nodes = await accessibleNodes(page);
  const known = new Map<string, AxNode>(nodes.map((node) => [node.nodeId, node]));
  const root = nodes.find((node) => node.name?.value === name && !node.ignored);
  assert.ok(root, name);
  const found: string[] = [];
  const walk = ({ childIds = [], ...node }: AxNode): void => {
    const role = node.role?.value ?? "";
    const said = node.name?.value ?? "";
    const isControl = role === "button" || role === "link";
    if (!node.ignored && (isControl || role === "StaticText")) found.push(`${role}: ${said}`);
    if (role === "paragraph") found.push(role);
    if (isControl) return;
    for (const id of childIds) {
      const child = known.get(id);
      if (child) walk(child);
    }
  };
  walk(root);
  return found;
}

test("a screen reader finds the speaker, the time and the text of each paragraph, in both states", async () => {
  await using page = await open(playable);
  const reading = await spokenTree(page, "Textinn");
  assert.deepEqual(reading.slice(0, 9), [
    "StaticText: Fréttamaður",
    "link: Hlusta frá 0:00",
    "paragraph",
    `StaticText: ${first}`,
    "StaticText: Jarðfræðingur",
    "link: Hlusta frá 0:07",
    "paragraph",
    `StaticText: ${second}`,
    "StaticText: Fréttamaður",
  ]);
  await page.keyboard.press("e");
  await editedText(page).waitFor();
  await page.keyboard.press("Control+Home");
  for (let at = 0; at < 14; at += 1) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await untilTexts(page, [first.slice(0, 14), first.slice(14), ...withTexts({}).slice(1)]);
  const editing = await spokenTree(page, "Textinn, í vinnslu");
  assert.deepEqual(editing.slice(0, 13), [
    "button: Fréttamaður",
    "button: Hlusta frá 0:00",
    "paragraph",
    `StaticText: ${first.slice(0, 14)}`,
    "button: Mælandi: Fréttamaður",
    "button: Hlusta frá 0:01",
    "paragraph",
    `StaticText: ${first.slice(14)}`,
    "button: Jarðfræðingur",
    "button: Hlusta frá 0:07",
    "paragraph",
    `StaticText: ${second}`,
    "button: Fréttamaður",
  ]);
  assert.ok(editing.includes(`StaticText: ${third}`));
});
