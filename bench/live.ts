// The console's live page with a recording in the place of the microphone: how soon words and
// sentences stand on the page by its own figures, and how many of the samples the saved transcript
// has. npm run bench:live [seconds]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { readWavHeader } from "../src/std/wav.ts";
import { wavHeader } from "../src/std/wav.ts";
import { openTestPages } from "../test/console/open-test-pages.ts";
import { flite, joined, silence } from "../test/fixtures/flite.ts";
import { sentences } from "./sentences.ts";

const seconds = Number(process.argv[2] ?? 60);
/** Between two sentences: an utterance ends after 500 ms. */
const pauseMs = 1_000;

const folder = mkdtempSync(join(tmpdir(), "hlust-bench-"));
try {
  const spoken = join(folder, "spoken.wav");
  const samples = joined(
    ...sentences.slice(0, 20).flatMap((sentence) => [flite(sentence), silence(pauseMs)]),
  );
  writeFileSync(
    spoken,
    Buffer.concat([
      wavHeader({ sampleRateHertz: 16_000, dataBytes: samples.byteLength }),
      Buffer.from(samples.buffer),
    ]),
  );
  await using pages = await openTestPages({ HLUST_ENGINE: "pocketsphinx" }, [
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-audio-capture=${spoken}`,
  ]);
  const page = await pages.open("/live", {
    look: { size: "desktop", language: "en", theme: "light" },
    context: { permissions: ["microphone"] },
  });
  // The engine is behind on a busy machine.
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
  const sound = Buffer.from(await (await fetch(json.uri)).arrayBuffer());
  const header = readWavHeader(sound);
  const saved = header ? header.dataBytes / 2 / header.sampleRateHertz : 0;
  const load = loadavg()[0]?.toFixed(0);
  console.log(`${cpus()[0]?.model}, ${availableParallelism()} cores, load ${load}`);
  console.log(figures.replaceAll(/\n(?=\d)/g, " "));
  console.log(
    `${saved.toFixed(2)} s of sound saved; the page says ${length.replaceAll("\n", " ")}`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
