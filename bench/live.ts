// Measures the console's live page with a recording instead of a microphone: how soon words and
// sentences appear on the page, by the page's own figures, and how much of the audio the saved
// transcript contains.
//
// Usage: npm run bench:live [seconds]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { readWavHeader, wavHeader } from "../src/std/wav.ts";
import { openTestPages } from "../test/console/open-test-pages.ts";
import { flite, joined, silence } from "../test/fixtures/flite.ts";
import { report, reportMachine } from "./report.ts";
import { sentences } from "./sentences.ts";

const seconds = Number(process.argv[2] ?? 60);
/**
 * The limits for 95 % of the words and sentences, as the page measures them. No issue specifies
 * these limits. In bench/pocketsphinx.ts, interim results may take 500 ms and finals 700 ms; the
 * network and the page may add half a second.
 */
const wordSecondsMax = 1;
const sentenceSecondsMax = 1.2;
/**
 * The duration of the audio that may be missing from the saved recording: the chunks in flight at
 * the pause.
 */
const lostSecondsMax = 0.5;
/** The silence between two sentences: an utterance ends after 500 ms. */
const pauseMs = 1_000;

const folder = mkdtempSync(join(tmpdir(), "hlust-bench-"));
try {
  const spoken = join(folder, "spoken.wav");
  const samples = joined(
    ...sentences.slice(0, 20).flatMap((sentence) => [flite(sentence), silence(pauseMs)]),
  );
  const header = wavHeader({ sampleRateHertz: 16_000, dataBytes: samples.byteLength });
  writeFileSync(spoken, Buffer.concat([header, Buffer.from(samples.buffer)]));
  await using pages = await openTestPages(
    { HLUST_ENGINE: "pocketsphinx" },
    ["--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${spoken}`],
    "full",
  );
  const page = await pages.open("/live", {
    look: { size: "desktop", language: "en", theme: "light" },
    context: { permissions: ["microphone"] },
  });
  // The timeout is long, because the engine falls behind on a busy machine.
  page.setDefaultTimeout(600_000);
  await page.getByRole("button", { name: "Listen" }).click();
  await page.locator(".live-said").first().waitFor();
  await sleep(1000 * seconds);
  await page.keyboard.press("Escape");
  await page.locator(".live-status").getByText("Paused").waitFor();
  const figures = await page.locator(".live-delays").innerText();
  const length = await page.locator(".live-kept").innerText();
  await page.getByRole("button", { name: "Save as transcript" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/\/transcripts\//);
  const name = new URL(page.url()).pathname.replace("/console/", "");
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const audio = Buffer.from(await (await fetch(json.uri)).arrayBuffer());
  const saved = readWavHeader(audio);
  const savedSeconds = saved ? saved.dataBytes / 2 / saved.sampleRateHertz : 0;
  reportMachine();
  console.log(figures.replaceAll(/\n(?=\d)/g, " "));
  console.log(`the page shows ${length.replaceAll("\n", " ")}`);
  const [words = NaN, sentencesShown = NaN] = [...figures.matchAll(/95% within\s+([\d.]+) s/g)].map(
    ([, within]) => Number(within),
  );
  report([
    { name: "words", ratio: words, ratioMax: wordSecondsMax, unit: "s", note: "95 %" },
    {
      name: "sentences",
      ratio: sentencesShown,
      ratioMax: sentenceSecondsMax,
      unit: "s",
      note: "95 %",
    },
    {
      name: "audio that is not saved",
      ratio: seconds - savedSeconds,
      ratioMax: lostSecondsMax,
      unit: "s",
      note: `${savedSeconds.toFixed(2)} of ${seconds} s or more`,
    },
  ]);
} finally {
  rmSync(folder, { recursive: true });
}
