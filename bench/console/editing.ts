import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { longestTaskMs } from "../../test/console/main-thread.ts";
import { openTestPages, type TestPages } from "../../test/console/open-test-pages.ts";
import {
  createLong,
  type LongSegment,
  metricsOf,
  type PageFigure,
  quantile,
  waitInside,
} from "./reading.ts";

/** The number of keys that are pressed at each place. */
const keys = 40;
/** A text may have 200,000 words. Typing and dividing adds some, and it is saved. */
const longestWords = 199_800;
/** How long the page works on after a key. */
const afterKeyMs = 120;
/**
 * The limits in ms of CPU time of the page's main thread, with style, layout and paint, for 72,000
 * words, which are 8 hours of speech. 200,000 words may take twice as long.
 */
const limits = {
  openMs: 300,
  keyMs: 8,
  slowKeyMs: 16,
  changeMs: 32,
  /** F8 opens a dialog. This is not a change of the text. */
  dialogMs: 64,
  allMs: 1_500,
  replaceMs: 300,
  savingTaskMs: 16,
  heapMb: 150,
};

/** The speaker of the turn of the paragraph with the caret. */
const caretSpeaker = `(() => {
  const all = [...document.querySelectorAll(".segment")];
  const at = all.indexOf(getSelection().focusNode.parentElement.closest(".segment"));
  const names = all.slice(0, at + 1).map((one) => one.querySelector(".segment-speaker")?.textContent);
  return names.findLast((name) => name) ?? "";
})()`;

const editedText = ".words-text[contenteditable=true]";

/**
 * Waits for the first frame that begins after the caret was placed in the edited text: the frame
 * that shows it has been painted by then.
 */
const caretShown = `new Promise((done) => {
  const look = () => {
    const text = document.querySelector("${editedText}");
    const isIn = text && document.activeElement === text && text.contains(getSelection().focusNode);
    requestAnimationFrame(isIn ? () => setTimeout(() => done(performance.now())) : look);
  };
  look();
})`;

/** Measures what typing and the commands of the editor cost in long transcripts. */
export async function runEditing(): Promise<PageFigure[]> {
  await using pages = await openTestPages({}, [], "full");
  const figures: PageFigure[] = [];
  for (const words of [72_000, longestWords]) figures.push(...(await edit(pages, words)));
  return figures;
}

async function edit(pages: TestPages, words: number): Promise<PageFigure[]> {
  const name = await createLong(pages, words, 60, withSpeakers);
  const { page, measured } = await openLong(pages, name, words);
  await measured.opening();
  await measured.keysAt("in the middle");
  await measured.changes("Enter", "Enter");
  await measured.changes("Backspace, which joins", "Backspace");
  await measured.changes("undo", "Control+z");
  await measured.speakers();
  await page.keyboard.press("Control+End");
  await measured.keysAt("at the end");
  await page.keyboard.press("Control+Home");
  await measured.keysAt("at the start");
  await play(page);
  await measured.keysAt("while it plays");
  await chooseUnclear(page);
  await measured.keysAt("while it plays, with unclear words underlined");
  await page.getByRole("button", { name: "Gera hlé" }).click();
  await goToStart(page);
  await measured.changes("F7, which selects the next unclear word", "F7");
  await goToStart(page);
  await measured.changes("to the last unclear word, and to the first", "Shift+F7", "F7");
  await goToStart(page);
  await measured.changes("F9, which moves the start of a word", "Shift+F9", "F9");
  await page.keyboard.press("Shift+F2");
  await page.locator(".edit-cue[aria-current]").waitFor();
  await goToStart(page);
  await measured.keysAt("next to the subtitles");
  await page.keyboard.press("Shift+F2");
  await page.locator(".edit-cues").waitFor({ state: "detached" });
  await goToStart(page);
  await measured.all();
  await measured.replacing("1,000 hits replaced", "hæstvirtur", "háttvirtur");
  await measured.replacing(`${(words / 30).toFixed(0)} hits replaced`, "forseti", "ráðherra");
  await measured.saving();
  await measured.joining(() => changeAtEnd(pages, name));
  await measured.heap();
  await page.context().close();
  await measured.openingTask(pages, name);
  return measured.figures;
}

/**
 * Gives segments three speakers in turn, and 1,000 of them a first word that is in no other place.
 */
function withSpeakers(segment: LongSegment, at: number): LongSegment {
  const speakerId = `speaker-${Math.floor(at / 4) % 3}`;
  const [first, ...others] = segment.words;
  const isTitled = at % 3 === 0 && at < 3_000 && first;
  const words = isTitled ? [{ ...first, word: "hæstvirtur " }, ...others] : segment.words;
  return { ...segment, speakerId, words };
}

/** Opens a transcript, and scrolls to its middle. */
async function openLong(
  pages: TestPages,
  name: string,
  words: number,
): Promise<{ readonly page: Page; readonly measured: Measured }> {
  const page = await pages.open(`/${name}`);
  const last = page.locator(".segment").nth(words / 20 - 1);
  await last.waitFor({ state: "attached", timeout: 60_000 });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const clock = await page.context().newCDPSession(page);
  await clock.send("Performance.enable", { timeDomain: "timeTicks" });
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
  await sleep(1_000);
  return { page, measured: new Measured(page, { devtools, clock }, words) };
}

/** Places the caret at the start of the text, from anywhere on the page. */
async function goToStart(page: Page): Promise<void> {
  await page.locator(editedText).focus();
  await page.keyboard.press("Control+Home");
}

/** Plays the recording, and clicks into the paragraph that is played. */
async function play(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Spila" }).click();
  await waitInside(page, "document.querySelector('video').currentTime > 1");
  await page.locator(".segment[data-here] p").click();
}

/** Another client saves a version in which a word of the last segment is another. */
async function changeAtEnd(pages: TestPages, name: string): Promise<void> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const startIndex = json.segments.length - 1;
  const { words, ...segment } = json.segments[startIndex];
  const changed = { ...segment, words: [{ ...words[0], word: "annað " }, ...words.slice(1)] };
  const changes = [{ startIndex, endIndex: startIndex + 1, segments: [changed] }];
  const match = { "if-match": json.version.name };
  const path = `/v1alpha1/${name}:modifySegments`;
  const { status } = await pages.service.call("POST", path, { changes }, match);
  if (status !== 200) throw new Error(`the version was not saved: ${status}`);
}

/** Underlines words whose confidence is below 50%, as a user chooses. */
async function chooseUnclear(page: Page): Promise<void> {
  await page.keyboard.press("Shift+F1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Orð eru óviss undir").selectOption("50");
  await dialog.getByLabel("Undirstrika óviss orð").check();
  await dialog.getByRole("button", { name: "Loka" }).click();
  await waitInside(page, "document.activeElement.closest('[contenteditable]') !== null");
}

/** Measures what happens in a page, and collects the figures. */
class Measured {
  readonly figures: PageFigure[] = [];
  readonly #page: Page;
  /** Measures CPU time. */
  readonly #devtools: CDPSession;
  /** Measures the time that passes in the same tasks. */
  readonly #clock: CDPSession;
  readonly #words: number;

  constructor(
    page: Page,
    { devtools, clock }: { readonly devtools: CDPSession; readonly clock: CDPSession },
    words: number,
  ) {
    this.#page = page;
    this.#devtools = devtools;
    this.#clock = clock;
    this.#words = words;
  }

  /**
   * Measures from the press of E to the caret in the text. What is done later, when the page is
   * idle, is in the note.
   */
  async opening(): Promise<void> {
    const page = this.#page;
    await page.evaluate(
      "addEventListener('keydown', () => (globalThis.pressedAt = performance.now()), { capture: true, once: true })",
    );
    const shown = page.evaluate<number>(caretShown);
    const before = await this.#now();
    await page.keyboard.press("e");
    const shownAt = await shown;
    const caret = await this.#now();
    await sleep(3_000);
    const later = costBetween(caret, await this.#now());
    const { taskMs, scriptMs } = costBetween(before, caret);
    const note = `script ${scriptMs.toFixed(0)}; in the 3 s after, ${later.taskMs.toFixed(0)} more`;
    this.#add("from reading to the caret", taskMs, limits.openMs, note);
    const wallMs = shownAt - (await page.evaluate<number>("pressedAt"));
    this.#add("the same, time that passes", wallMs, limits.openMs, "also of the network");
  }

  /** Measures the longest task after the caret has been shown, on a page of its own. */
  async openingTask(pages: TestPages, name: string): Promise<void> {
    const { page } = await openLong(pages, name, this.#words);
    const longestMs = await longestTaskMs(
      page,
      async () => {
        const shown = page.evaluate(caretShown);
        await page.keyboard.press("e");
        await shown;
        await page.evaluate("performance.mark('caret')");
        await sleep(3_000);
      },
      "caret",
    );
    this.#add("the longest task after that", longestMs, limits.changeMs, "");
    await page.context().close();
  }

  async once(name: string, msMax: number, act: () => Promise<void>): Promise<void> {
    const { taskMs, scriptMs } = await this.#cost(act, 2_000);
    this.#add(name, taskMs, msMax, `script ${scriptMs.toFixed(0)}`);
  }

  /**
   * Measures single letters at the caret, without what the page does in the same time anyway. Fails
   * if a letter does not come into the text.
   */
  async keysAt(place: string): Promise<void> {
    await sleep(1_000);
    const idle = await this.#cost(() => sleep(0), 1_500);
    const idleShare = idle.taskMs / idle.wallMs;
    const lengthBefore = await this.#length();
    const costs = [];
    for (let at = 0; at < keys; at++) {
      const letter = "abdefghijo"[at % 10] ?? "a";
      costs.push(await this.#cost(() => this.#page.keyboard.press(letter), afterKeyMs));
    }
    assert.equal((await this.#length()) - lengthBefore, keys, `the letters typed ${place}`);
    const tasks = costs.map(({ taskMs, wallMs }) => taskMs - idleShare * wallMs);
    const scripts = costs.map(({ scriptMs }) => scriptMs);
    const script = `script ${quantile(scripts, 0.5).toFixed(1)}`;
    const note = `${script}; without a key ${(idleShare * 100).toFixed(0)}% of the time`;
    this.#add(`a key ${place}, p50`, quantile(tasks, 0.5), limits.keyMs, note);
    this.#add(`a key ${place}, p95`, quantile(tasks, 0.95), limits.slowKeyMs, "");
  }

  /** Measures a key that changes the paragraphs, or several in turn, ten times in a row. */
  async changes(name: string, ...keys: readonly [string, ...string[]]): Promise<void> {
    const tasks = [];
    for (let at = 0; at < 10; at++) {
      const key = keys[at % keys.length] ?? keys[0];
      const { taskMs } = await this.#cost(() => this.#page.keyboard.press(key), afterKeyMs * 2);
      tasks.push(taskMs);
    }
    const longest = `longest ${quantile(tasks, 1).toFixed(1)}`;
    this.#add(name, quantile(tasks, 0.5), limits.changeMs, longest);
  }

  /** Measures setting the speaker of a paragraph: F8 shows the speakers, a digit sets one. */
  async speakers(): Promise<void> {
    const page = this.#page;
    const [opening, setting] = [[] as number[], [] as number[]];
    for (let at = 0; at < 10; at++) {
      const before = await page.evaluate<string>(caretSpeaker);
      const open = await this.#cost(async () => {
        await page.keyboard.press("F8");
        await page.locator(".palette").waitFor();
      }, afterKeyMs);
      opening.push(open.taskMs);
      const set = await this.#cost(() => page.keyboard.press(`${1 + (at % 2)}`), afterKeyMs * 2);
      setting.push(set.taskMs);
      await waitInside(page, "document.activeElement.closest('[contenteditable]') !== null");
      if (at > 0) assert.notEqual(await page.evaluate<string>(caretSpeaker), before);
    }
    this.#add("F8, which shows the speakers", quantile(opening, 0.5), limits.dialogMs, "");
    const note = `longest ${quantile(setting, 1).toFixed(1)}`;
    this.#add("a speaker, set by a digit", quantile(setting, 0.5), limits.changeMs, note);
  }

  /** Measures replacing all of the text. */
  async all(): Promise<void> {
    const page = this.#page;
    const lengthBefore = await this.#length();
    await this.once("select all", limits.allMs, () => page.keyboard.press("Control+a"));
    await this.once("type over all", limits.allMs, () => page.keyboard.press("x"));
    assert.equal(await this.#length(), 1, "all of the text was replaced");
    await this.once("undo that", limits.allMs, () => page.keyboard.press("Control+z"));
    assert.equal(await this.#length(), lengthBefore, "the text is as before");
    // Browsers lay out and paint all parts that have something selected.
    await goToStart(page);
    await sleep(2_000);
  }

  /** Measures replacing all hits of a word. */
  async replacing(name: string, text: string, by: string): Promise<void> {
    const page = this.#page;
    await page.keyboard.press("Control+h");
    const panel = page.getByRole("region", { name: "Leita og skipta út" });
    await panel.getByRole("textbox", { name: "Leita að" }).fill(text);
    await panel.getByRole("textbox", { name: "Skipta út fyrir" }).fill(by);
    const replace = panel.getByRole("button", { name: "Skipta út öllum merktum" });
    await replace.focus();
    await sleep(2_000);
    await this.once(name, limits.replaceMs, () => replace.press("Enter"));
    await panel.getByRole("button", { name: "Loka" }).click();
  }

  /** Measures the longest task of saving what was replaced. */
  async saving(): Promise<void> {
    const page = this.#page;
    // Otherwise the garbage of what was done before may be collected within this time.
    await this.#devtools.send("HeapProfiler.collectGarbage");
    const longestMs = await longestTaskMs(page, async () => {
      await Promise.all([
        page.waitForResponse((one) => one.url().endsWith(":modifySegments")),
        page.keyboard.press("Control+s"),
      ]);
      // The page is not asked, since searching such a page takes its main thread.
      await sleep(3_000);
    });
    this.#add("the longest task while saving that", longestMs, limits.savingTaskMs, "");
  }

  /** Measures the longest task while a version of others comes into a text with changes. */
  async joining(changeElsewhere: () => Promise<void>): Promise<void> {
    await this.#page.keyboard.press("Control+Home");
    await this.#page.keyboard.type("Jæja. ");
    await sleep(1_000);
    const longestMs = await longestTaskMs(this.#page, async () => {
      await changeElsewhere();
      // The page fetches the version, merges it and shows it, which its watch begins.
      await sleep(6_000);
    });
    await this.#page.locator(".note").filter({ hasText: "1 breytt" }).waitFor();
    this.#add(
      "the longest task while a version of others joins",
      longestMs,
      limits.savingTaskMs,
      "",
    );
  }

  async heap(): Promise<void> {
    await this.#devtools.send("HeapProfiler.collectGarbage");
    const { JSHeapUsedSize = 0 } = await metricsOf(this.#devtools);
    const name = `${this.#words} words, edited: heap in MB`;
    const limit = limits.heapMb * this.#factor;
    this.figures.push({ name, ms: JSHeapUsedSize / 1e6, msMax: limit, note: "MB, not ms" });
  }

  get #factor(): number {
    return this.#words > 72_000 ? 2 : 1;
  }

  #add(name: string, ms: number, msMax: number, note: string): void {
    const title = `${this.#words} words, edited: ${name}`;
    this.figures.push({ name: title, ms, msMax: msMax * this.#factor, note });
  }

  /** The length of the text in UTF-16 code units. */
  async #length(): Promise<number> {
    return await this.#page.evaluate<number>(
      `[...document.querySelectorAll(".segment p")].reduce((sum, p) => sum + p.textContent.length, 0)`,
    );
  }

  async #cost(act: () => Promise<void>, settleMs: number): Promise<Cost> {
    const before = await this.#now();
    await act();
    await sleep(settleMs);
    return costBetween(before, await this.#now());
  }

  async #now(): Promise<Record<string, number>> {
    const { TaskDuration: PassedDuration = 0 } = await metricsOf(this.#clock);
    return { ...(await metricsOf(this.#devtools)), PassedDuration };
  }
}

/** Times in ms. `taskMs` and `scriptMs` are CPU times of the page's main thread. */
interface Cost {
  readonly taskMs: number;
  readonly scriptMs: number;
  readonly wallMs: number;
}

function costBetween(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Cost {
  const of = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) * 1_000;
  // The clock of a thread can jump by more than 100 ms, as main-thread.ts says.
  const taskMs = Math.min(of("TaskDuration"), of("PassedDuration"));
  return { taskMs, scriptMs: of("ScriptDuration"), wallMs: of("Timestamp") };
}
