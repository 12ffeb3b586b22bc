// The live page with a real recording and a real engine. The words appear quickly, and are saved
// with the audio.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { speak } from "../fixtures/flite.ts";
import { pcmOf } from "../spec/service.ts";
import { openStream, streamingConfig } from "../spec/stream.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";

const sentence = "the weather is cold and dark today";
const english = { size: "desktop", language: "en", theme: "light" } as const;
const opened = new AsyncDisposableStack();
let pages: TestPages;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-live-"));
  opened.defer(() => rmSync(folder, { recursive: true }));
  const spoken = join(folder, "spoken.wav");
  writeFileSync(spoken, speak(sentence));
  pages = opened.use(
    await openTestPages(
      { HLUST_ENGINE: "pocketsphinx", HLUST_ACCOUNT_STREAMS: "1" },
      [
        "--use-fake-device-for-media-stream",
        // The recording is played once and followed by silence.
        `--use-file-for-fake-audio-capture=${spoken}%noloop`,
      ],
      "full",
    ),
  );
});
after(() => opened.disposeAsync());

test("the words of a recording appear, and are saved with their times and the audio", async () => {
  const { address, key } = pages.service;
  // The account may have only one stream, which another client is using. The page waits and loses
  // no audio.
  const other = await openStream(address, { token: key });
  other.send(streamingConfig());
  other.sendAudio(Buffer.alloc(3200));
  await using page = await pages.open("/live", {
    look: english,
    context: { permissions: ["microphone"] },
  });
  // The engine is slower than speech on a busy machine.
  page.setDefaultTimeout(150_000);
  await page.getByRole("button", { name: "Listen" }).click();
  await page.getByText("The service is at full capacity.").waitFor();
  other.send({ audioContent: "" });
  await other.closed;

  const final = page.locator(".live-said").filter({ hasText: "today" });
  await final.waitFor();
  const shown = await final.innerText();
  const wrong = sentence.split(" ").filter((word) => !shown.toLowerCase().includes(word));
  assert.ok(wrong.length <= 1, shown);
  // The text is announced to screen readers once it is final.
  await page.getByRole("status").filter({ hasText: "today" }).waitFor();
  await page
    .locator(".live-delays", { hasText: /words appear after\s*\d+\.\d\d s.*final after\s*\d/s })
    .waitFor();
  await checkLooks(page, "live-listening");

  await page.getByRole("button", { name: "Save as transcript" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/\/transcripts\//);
  const name = new URL(page.url()).pathname.replace("/console/", "");
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(json.metadata.languageCode, "en-US");
  const words: { startTime: string; word: string }[] = json.segments[0].words;
  assert.equal(
    words
      .map(({ word }) => word)
      .join("")
      .trim(),
    shown,
  );
  assert.ok(words.every(({ startTime }) => /^\d+(\.\d+)?s$/.test(startTime)));
  const seconds = await page.evaluate<number>(`new Promise((resolve, reject) => {
    const audio = new Audio(${JSON.stringify(json.uri)});
    audio.onloadedmetadata = () => resolve(audio.duration);
    audio.onerror = () => reject(new Error("the audio cannot be played"));
  })`);
  assert.ok(seconds > 3, `${seconds} s of audio`);
});

test("the example program shown on the live page recognizes a recording piped to it", async () => {
  await using page = await pages.open("/live", { look: english });
  await page.getByLabel("I speak").selectOption("en-US");
  await page.getByText("Do the same from a program").click();
  const program = join(folder, "live.mjs");
  writeFileSync(program, await page.getByLabel("Do the same from a program").innerText());
  const env = { ...process.env, HLUST_KEY: pages.service.key };
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(pcmOf(speak(sentence)));
  assert.match(await text(child.stdout), /^= the weather is cold/m);
});
