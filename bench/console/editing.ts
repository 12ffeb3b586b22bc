import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { longestTaskMs } from "../../test/console/main-thread.ts";
import { openTestPages, type TestPages } from "../../test/console/open-test-pages.ts";
import { createLong, metricsOf, type PageFigure, quantile, waitInside } from "./reading.ts";

/** The number of keys that are pressed at each place. */
const keys = 40;
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
  allMs: 1_500,
  replaceMs: 300,
  savingTaskMs: 16,
  /** The answer is parsed in one task, and its words are shown in one. */
  joinTaskMs: 60,
  heapMb: 150,
};

/** Measures what typing and the commands of the editor cost in long transcripts. */
export async function runEditing(): Promise<PageFigure[]> {
  await using pages = await openTestPages();
  const figures: PageFigure[] = [];
  for (const words of [72_000, 200_000]) figures.push(...(await edit(pages, words)));
  return figures;
}

async function edit(pages: TestPages, words: number): Promise<PageFigure[]> {
  const name = await createLong(pages, words, 60);
  const page = await pages.open(`/${name}`);
  const last = page.locator(".segment").nth(words / 20 - 1);
  await last.waitFor({ state: "attached", timeout: 60_000 });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const measured = new Measured(page, devtools, words);
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
  await sleep(1_000);
  await measured.once("from reading to editing", limits.openMs, async () => {
    await page.keyboard.press("e");
    await page.locator(".words-text[contenteditable=true]").waitFor();
  });
  await measured.keysAt("in the middle");
  await measured.changes("Enter", "Enter");
  await measured.changes("Backspace, which joins", "Backspace");
  await measured.changes("undo", "Control+z");
  await page.keyboard.press("Control+End");
  await measured.keysAt("at the end");
  await page.keyboard.press("Control+Home");
  await measured.keysAt("at the start");
  await chooseUnclear(page);
  await measured.changes("F7, which selects the next unclear word", "F7");
  await page.keyboard.press("Control+Home");
  await measured.changes("to the last unclear word, and to the first", "Shift+F7", "F7");
  await measured.changes("F9, which moves the start of a word", "Shift+F9", "F9");
  const play = page.getByRole("button", { name: "Spila" });
  await play.click();
  await waitInside(page, "document.querySelector('video').currentTime > 1");
  await page.locator(".segment[data-here] p").click();
  await measured.keysAt("while it plays");
  await page.getByRole("button", { name: "Gera hlé" }).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+F2");
  await page.locator(".edit-cue[aria-current]").waitFor();
  await measured.keysAt("next to the subtitles");
  await page.keyboard.press("Shift+F2");
  await page.keyboard.press("Control+Home");
  await measured.once("select all", limits.allMs, () => page.keyboard.press("Control+a"));
  await measured.once("type over all", limits.allMs, () => page.keyboard.press("x"));
  await measured.once("undo that", limits.allMs, () => page.keyboard.press("Control+z"));
  await measured.saving();
  await measured.joining(() => changeAtEnd(pages, name));
  await measured.heap();
  await page.context().close();
  return measured.figures;
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
  readonly #devtools: CDPSession;
  readonly #words: number;

  constructor(page: Page, devtools: CDPSession, words: number) {
    this.#page = page;
    this.#devtools = devtools;
    this.#words = words;
  }

  async once(name: string, msMax: number, act: () => Promise<void>): Promise<void> {
    const { taskMs, scriptMs } = await this.#cost(act, 2_000);
    this.#add(name, taskMs, msMax, `script ${scriptMs.toFixed(0)}`);
  }

  /** Measures single letters at the caret, without what the page does in the same time anyway. */
  async keysAt(place: string): Promise<void> {
    await sleep(1_000);
    const idle = [];
    for (let at = 0; at < 10; at++) idle.push(await this.#cost(() => sleep(5), afterKeyMs));
    const idleMs = quantile(
      idle.map(({ taskMs }) => taskMs),
      0.5,
    );
    const costs = [];
    for (let at = 0; at < keys; at++) {
      const letter = "abdefghijo"[at % 10] ?? "a";
      costs.push(await this.#cost(() => this.#page.keyboard.press(letter), afterKeyMs));
    }
    const tasks = costs.map(({ taskMs }) => taskMs - idleMs);
    const scripts = costs.map(({ scriptMs }) => scriptMs);
    const script = `script ${quantile(scripts, 0.5).toFixed(1)}`;
    const note = `${script}; ${idleMs.toFixed(1)} ms without a key`;
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

  /** Measures replacing a word that is in most paragraphs, and the longest task of saving it. */
  async saving(): Promise<void> {
    const page = this.#page;
    await page.keyboard.press("Control+h");
    const panel = page.getByRole("region", { name: "Leita og skipta út" });
    await panel.getByRole("textbox", { name: "Leita að" }).fill("forseti");
    await panel.getByRole("textbox", { name: "Skipta út fyrir" }).fill("ráðherra");
    const replace = panel.getByRole("button", { name: "Skipta út öllum merktum" });
    await replace.focus();
    await sleep(2_000);
    // About one word in thirty.
    const hits = this.#words / 30;
    const msMax = (limits.replaceMs * 72_000) / 30 / 1_000;
    await this.once(`${hits.toFixed(0)} hits replaced`, msMax, () => replace.press("Enter"));
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
    this.#add("the longest task while a version of others joins", longestMs, limits.joinTaskMs, "");
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

  async #cost(
    act: () => Promise<void>,
    settleMs: number,
  ): Promise<{ taskMs: number; scriptMs: number }> {
    const before = await metricsOf(this.#devtools);
    await act();
    await sleep(settleMs);
    const after = await metricsOf(this.#devtools);
    const of = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) * 1_000;
    return { taskMs: of("TaskDuration"), scriptMs: of("ScriptDuration") };
  }
}
