// The page of `hlust evaluate --html` in a real browser, opened from a file as its reader does.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { compareSystems, summarizeResults } from "../../src/evaluation/summarize-results.ts";
import type { Evaluation } from "../../src/evaluation/evaluation.ts";
import { writeHtmlReport } from "../../src/cli/evaluate/write-html-report.ts";
import { wavHeader } from "../../src/std/wav.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import { until } from "../fixtures/until.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const options = { normalization: "standard", resampling: { seed: 1, samples: 200 } } as const;

/** Returns a result with words of 500 ms. */
function resultOf(name: string, text: string, recognized: string) {
  const words = recognized.split(" ");
  return {
    name,
    text,
    languageCode: "en-US",
    mode: "job",
    model: "m",
    durationMs: 10_000,
    tookMs: 1000,
    recognized: words.map((word, at) => ({ text: word, startMs: 500 * at, endMs: 500 * at + 400 })),
  };
}

function evaluationOf(): Evaluation {
  const text = "the <i>cold</i> wind & the rain of the north came over the sea";
  const first = [
    resultOf("a.wav", text, "the cold wind and the train of the north came over the bee"),
    resultOf("b.wav", "all is well", "all is well"),
  ];
  const second = [
    resultOf("a.wav", text, "the cold wind and rain of the north came over the sea"),
    resultOf("b.wav", "all is well", "all is well"),
  ];
  const system = summarizeResults("first", first, options);
  const other = summarizeResults("second", second, options);
  const against = { system: other, ...compareSystems(system, other, options.resampling) };
  return { manifest: "talks", ...options, system, against };
}

test("a difference plays its part of the recording, by mouse and by keyboard", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-report-test-"));
  try {
    const samples = new Int16Array(160_000).map((_, at) => 3000 * Math.sin(at / 8));
    const header = wavHeader({ sampleRateHertz: 16_000, dataBytes: samples.byteLength });
    const sound = join(folder, "a #1%.wav");
    writeFileSync(sound, Buffer.concat([header, Buffer.from(samples.buffer)]));
    const file = join(folder, "report of today.html");
    await writeHtmlReport(file, evaluationOf(), [{ file: sound }, { file: sound }]);

    await using browser = await openBrowser(["--autoplay-policy=no-user-gesture-required"]);
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(pathToFileURL(file).href);
    const train = page.getByRole("button", { name: "said rain recognized train" });
    const timeOf = (): Promise<number> =>
      page.evaluate<number>("document.getElementById('sound-0').currentTime");
    const isPaused = (): Promise<boolean> =>
      page.evaluate<boolean>("document.getElementById('sound-0').paused");

    // "train" is the sixth word: from 2.5 s to 2.9 s, with 0.3 s around it.
    await train.click();
    await until(async () => (await timeOf()) > 2.2);
    assert.equal(await train.getAttribute("aria-pressed"), "true");
    await until(isPaused);
    const endedAt = await timeOf();
    assert.ok(endedAt >= 3.2 && endedAt < 6, String(endedAt));
    assert.equal(await train.getAttribute("aria-pressed"), "false");

    const bee = page.getByRole("button", { name: "said sea recognized bee" });
    await bee.focus();
    await page.keyboard.press("Enter");
    await until(async () => (await timeOf()) > 5.6);
    await page.keyboard.press("Enter");
    await until(isPaused);

    const second = page.getByRole("heading", { name: "b.wav" });
    assert.ok(await second.isVisible());
    await page.getByLabel("Show only recordings with errors").check();
    assert.ok(!(await second.isVisible()));
    assert.ok(await train.isVisible());

    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(width <= 390, `the page is ${width} px wide`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(axe);
      const found = await page.evaluate<string[]>(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))",
      );
      assert.deepEqual(found, []);
    }
    assert.deepEqual(errors, []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
