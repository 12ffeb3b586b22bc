// The live page and everything that can go wrong on it. Chromium's fake microphone plays a tone,
// and the scripted engine counts the speech that it receives.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { readWavHeader } from "../../src/std/wav.ts";
import { samplesOfWav } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { checkDialog } from "./check-dialog.ts";
import { createFakeMicrophone } from "./fake-microphone.ts";
import { type CuttableNetwork, openCuttableNetwork } from "./cuttable-network.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const opened = new AsyncDisposableStack();
let pages: TestPages;
let network: CuttableNetwork;

before(async () => {
  const microphone = opened.use(createFakeMicrophone());
  network = opened.use(await openCuttableNetwork());
  pages = opened.use(
    // Streams end early, so that the page often has to continue with the next stream.
    await openTestPages(
      { HLUST_STREAM_SECONDS_MAX: "4" },
      [...microphone.args, ...network.args],
      "full",
    ),
  );
});
after(() => opened.disposeAsync());

/**
 * Opens the page with or without permission for the microphone. The page keeps the stream and the
 * audio context that it opens, so that a test can interrupt them.
 */
async function openLive(permissions = ["microphone"]): Promise<Page> {
  const page = await pages.open("/nowhere", { context: { permissions } });
  page.setDefaultTimeout(100_000);
  await page.addInitScript(`
    const getUserMedia = MediaDevices.prototype.getUserMedia;
    MediaDevices.prototype.getUserMedia = async function (...wanted) {
      return (window.keptStream = await getUserMedia.apply(this, wanted));
    };
    const Context = AudioContext;
    window.AudioContext = class extends Context {
      constructor(...options) { super(...options); window.keptContext = this; }
    };
    const Node = AudioWorkletNode;
    window.AudioWorkletNode = class extends Node {
      constructor(...options) {
        super(...options);
        this.port.addEventListener("message", ({ data }) => {
          if (typeof data === "number") window.keptSamples = (window.keptSamples ?? 0) + data;
        });
      }
    };`);
  await page.goto(`${pages.service.address}/console/live`);
  await page.getByRole("button", { name: "Hlusta" }).waitFor();
  return page;
}

const status = (page: Page, text: string) => page.locator(".live-status").getByText(text).waitFor();
const words = (page: Page, text: string) =>
  page.locator(".live-text").filter({ hasText: text }).waitFor();
const alert = (page: Page, text: string) => page.getByRole("alert").getByText(text).waitFor();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** Waits until this many seconds have been recorded, whatever text the page shows. */
async function untilRecorded(page: Page, seconds: number): Promise<void> {
  const isThere = `(() => {
    const [minutes, seconds] = document.querySelector(".live-facts").innerText.split(/[:\\s]/);
    return 60 * Number(minutes) + Number(seconds) >= ${seconds};
  })()`;
  await until(async () => await page.evaluate<boolean>(isThere));
}

interface Saved {
  readonly subject: string;
  /** The number of samples of the audio. */
  readonly samples: number;
  readonly seconds: number;
  /**
   * The duration of the audio without its silence. A microphone that is being opened is silent for
   * a moment.
   */
  readonly toneSeconds: number;
  /** The total duration of the words. */
  readonly spokenSeconds: number;
}

/** Reads the transcript that the page has opened after saving. */
async function readSaved(page: Page): Promise<Saved> {
  await page.waitForURL(/\/transcripts\//);
  const name = new URL(page.url()).pathname.replace("/console/", "");
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const audio = Buffer.from(await (await fetch(json.uri)).arrayBuffer());
  const header = readWavHeader(audio);
  assert.ok(header);
  assert.equal(header.channels, 1);
  const samples = header.dataBytes / 2;
  const segments: readonly { words: readonly { startTime: string; endTime: string }[] }[] =
    json.segments;
  const spokenSeconds = segments
    .flatMap((segment) => segment.words)
    .reduce(
      (sum, word) => sum + Number.parseFloat(word.endTime) - Number.parseFloat(word.startTime),
      0,
    );
  const tone = samplesOfWav(audio).filter((sample) => sample !== 0).length;
  const [seconds, toneSeconds] = [samples, tone].map((count) => count / header.sampleRateHertz);
  assert.ok(seconds !== undefined && toneSeconds !== undefined);
  return { subject: json.metadata.subject, samples, seconds, toneSeconds, spokenSeconds };
}

/**
 * Checks that the engine recognizes words in the whole tone, to the millisecond, and in short
 * silences within the tone. No audio may be missing or recognized twice.
 */
function checkComplete({ spokenSeconds, toneSeconds, seconds }: Saved): void {
  const share = spokenSeconds / toneSeconds;
  assert.ok(share > 0.99, `only a share of ${share} was recognized`);
  assert.ok(spokenSeconds < 1.01 * seconds, `${spokenSeconds} s of ${seconds} s were recognized`);
}

test("all audio is recognized exactly once while the page is busy, streams end and the network fails", async () => {
  await using page = await openLive();
  expectProblems(page, /^net::ERR_/, /^error: WebSocket connection/);
  await page.getByRole("button", { name: "Hlusta" }).focus();
  await page.keyboard.press("Enter");
  await status(page, "Hlustar");
  await words(page, "word2");
  await page.evaluate("{ const end = performance.now() + 500; while (performance.now() < end); }");
  await untilRecorded(page, 5);
  network.cut();
  const note = page.getByText("Sambandið við þjónustuna rofnaði.");
  await note.waitFor();
  // The recording says it; the banner of every page is hidden meanwhile.
  await page.locator("html[data-live-offline]").waitFor();
  assert.equal(await page.locator(".offline-text:visible").count(), 0);
  await page.evaluate("{ const end = performance.now() + 500; while (performance.now() < end); }");
  await untilRecorded(page, 8);
  await words(page, "word2");
  network.restore();
  await press(page, "Reyna núna");
  await note.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await status(page, "Hlé");
  await press(page, "Vista sem uppskrift");
  await press(page, "Vista");
  const saved = await readSaved(page);
  assert.match(saved.subject, /^Beint \d+\. \p{L}+ \d{4} kl\. \d+:\d\d$/u);
  assert.equal(saved.samples, await page.evaluate<number>("window.keptSamples"));
  checkComplete(saved);
});

test("the page explains why a microphone is refused, missing or not allowed", async () => {
  await using page = await openLive([]);
  await press(page, "Hlusta");
  await alert(page, "Vafrinn fær ekki að hlusta.");
  await checkLooks(page, "live-refused", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });

  const failWith = (name: string) =>
    `MediaDevices.prototype.getUserMedia = () => Promise.reject(new DOMException("", "${name}"));`;
  await page.evaluate(failWith("NotFoundError"));
  await press(page, "Hlusta");
  await alert(page, "Enginn hljóðnemi fannst.");
  await page.evaluate(failWith("NotReadableError"));
  await press(page, "Hlusta");
  await alert(page, "Hljóðneminn er upptekinn.");
  await page.evaluate(`Object.defineProperty(window, "isSecureContext", { value: false })`);
  await press(page, "Hlusta");
  await alert(page, "Vafrinn leyfir ekki hljóðnema hér.");
});

test("no words are lost if the microphone is disconnected, the page is left or saving fails", async () => {
  await using page = await openLive();
  expectProblems(page, /^net::ERR_FAILED (POST|PATCH)/);
  await press(page, "Hlusta");
  await words(page, "word2");
  await page.evaluate(`{
    const [track] = window.keptStream.getAudioTracks();
    track.stop();
    track.dispatchEvent(new Event("ended"));
  }`);
  await alert(page, "Hljóðneminn aftengdist.");
  await status(page, "Hlé");
  await words(page, "word2");

  await press(page, "Halda áfram");
  await status(page, "Hlustar");
  await page.evaluate("window.keptContext.suspend()");
  await alert(page, "Vafrinn hætti að hlusta.");
  await press(page, "Hlusta áfram");
  await page.getByText("Vafrinn hætti að hlusta.").waitFor({ state: "detached" });

  await page.getByRole("navigation").getByRole("link", { name: "Verk" }).click();
  await page.getByRole("heading", { name: "Orðin eru ekki vistuð" }).waitFor();
  await press(page, "Vera áfram");
  await words(page, "word2");
  await press(page, "Stöðva");
  await status(page, "Hlé");

  // The response to saving the text is lost, and then the first upload of the audio fails.
  let creations = 0;
  await page.route("**/v1alpha1/transcripts", async (route) => {
    creations += 1;
    await route.fetch();
    await route.abort();
  });
  let uploads = 0;
  await page.route("**/v1alpha1/uploads/**", (route) => {
    uploads += 1;
    return uploads === 1 ? route.abort() : route.continue();
  });
  await press(page, "Vista sem uppskrift");
  await page.getByLabel("Titill").fill("Ávarp Þóru & Ægis");
  await press(page, "Vista");
  await alert(page, "Ekki næst í þjónustuna.");
  await checkDialog(page);
  await checkLooks(page, "live-save-failed", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await press(page, "Reyna aftur");
  const saved = await readSaved(page);
  // The second request asks how much the service has.
  assert.deepEqual([saved.subject, creations, uploads], ["Ávarp Þóru & Ægis", 1, 3]);
  assert.equal(saved.samples, await page.evaluate<number>("window.keptSamples"));
  checkComplete(saved);
});

test("audio of one user is not sent for another user, and a microphone stopped during a switch stays off", async () => {
  const { secret } = (
    await pages.service.call("POST", "/v1/apiKeys", {
      displayName: "Önnur vakt",
      scopes: ["transcripts.read", "speech"],
    })
  ).json;
  await using page = await openLive();
  expectProblems(page, /^401 POST .*streamTokens$/);
  await press(page, "Hlusta");
  await untilRecorded(page, 1);
  await page.context().clearCookies();
  const field = page.getByLabel("API-lykill", { exact: true });
  await field.fill(secret);
  await field.press("Enter");
  await page.getByRole("button", { name: "Hlusta" }).waitFor();
  assert.equal(await page.locator(".live-kept").count(), 0);
  let tokens = 0;
  page.on("request", (request) => {
    tokens += request.url().endsWith("/v1/streamTokens") ? 1 : 0;
  });
  const streaming = page.waitForRequest(/streamTokens$/);
  // This event resumes everything that waits for a network.
  await page.evaluate(`dispatchEvent(new Event("online"))`);
  await press(page, "Hlusta");
  await streaming;
  await untilRecorded(page, 1);
  assert.equal(tokens, 1);

  // If the user stops while the page switches microphones, neither of them may stay on.
  await page.evaluate(`(() => {
    window.firstStream = window.keptStream;
    const choice = [...document.querySelectorAll(".live-settings select")].at(-1);
    choice.value = [...choice.options].find(({ value }) => value !== choice.value).value;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  })()`);
  await page.getByRole("button", { name: "Halda áfram" }).waitFor();
  assert.ok(await page.evaluate("window.firstStream === window.keptStream"));
});
