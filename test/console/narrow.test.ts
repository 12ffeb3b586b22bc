// Texts that are hard to lay out: titles without spaces, long addresses, secrets, and scripts that
// are written from right to left.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
});
after(() => pages[Symbol.asyncDispose]());

const phone = { width: 320, height: 568 };
const sizes = [phone, { width: 1280, height: 800 }];

async function assertFits(page: Page): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    const { scrollWidth } = await page.evaluate<{ scrollWidth: number }>(
      "({ scrollWidth: document.documentElement.scrollWidth })",
    );
    assert.ok(scrollWidth <= size.width, `${page.url()}: ${scrollWidth} px at ${size.width}`);
  }
}

const word = (text: string) => ({ startTime: "0s", endTime: "1s", word: text });

test("a title of 240 letters without a space is not wider than the page", async () => {
  const subject = "Donaudampfschifffahrt".repeat(12).slice(0, 240);
  const segments = [{ startTime: "0s", endTime: "1s", words: [word("Orð")] }];
  const metadata = { subject, languageCode: "is-IS", fileType: "AUDIO" };
  const name = await createTranscript(pages.service, { metadata, segments });
  for (const path of [`/${name}`, "/transcripts", "/"]) {
    await using page = await pages.open(path);
    await page.getByText(subject).first().waitFor();
    await assertFits(page);
  }
});

test("a long address of a member breaks on a phone", async () => {
  const email = `${"longaddress".repeat(5)}@${"example".repeat(8)}.is`;
  const made = await pages.service.call("POST", "/v1/members", { email, role: "VIEWER" });
  assert.equal(made.status, 200, JSON.stringify(made.json));
  await using page = await pages.open("/account");
  await page.getByText(email).first().waitFor();
  await assertFits(page);
});

/** Checks that no secret and no code that is shown is cut off, or has to be scrolled. */
async function assertWhole(page: Page): Promise<void> {
  const code = page.locator(".code-sample pre");
  await code.first().waitFor();
  const widths = await code.evaluateAll((all) =>
    all.map(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth] as const),
  );
  for (const [all, seen] of widths) assert.ok(all <= seen, `${all} of ${seen} px`);
}

test("secrets and code are shown whole on a phone", async () => {
  await using page = await pages.open("/account");
  await page.setViewportSize(phone);
  const press = (name: string | RegExp) => page.getByRole("button", { name }).click();
  await press(/^Tengill: longaddress/);
  await press("Búa til tengil");
  await assertWhole(page);
  for (const kind of ["Nýr API-lykill", "Nýr undirritunarlykill"]) {
    await page.goto(`${pages.service.address}/console/keys`);
    await press(kind);
    await page.getByRole("dialog").getByLabel("Nafn").fill("Símalykill");
    await press("Búa til lykil");
    await assertWhole(page);
  }
});

test("Arabic and Hebrew texts begin at the right, while they are read and while they are edited", async () => {
  const subject = "مقابلة عن الفيضان";
  const texts = ["صباح الخير جميعا", "שלום לכולם"];
  const segments = texts.map((text, at) => ({
    startTime: `${at}s`,
    endTime: `${at + 1}s`,
    words: [{ startTime: `${at}s`, endTime: `${at + 1}s`, word: text }],
  }));
  const metadata = { subject, languageCode: "ar", fileType: "AUDIO" };
  const name = await createTranscript(pages.service, { metadata, segments });
  await using page = await pages.open(`/${name}`);
  await page.locator(".segment").nth(1).waitFor();
  const directions = () =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll("h1, .segment p")].map((one) => getComputedStyle(one).direction)`,
    );
  assert.deepEqual(await directions(), ["rtl", "rtl", "rtl"]);
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  assert.deepEqual(await directions(), ["rtl", "rtl", "rtl"]);
  await page.goto(`${pages.service.address}/console/transcripts`);
  const title = page.getByRole("link", { name: subject });
  await until(async () => (await title.getAttribute("dir")) === "auto");
});

test("a low window shows the text above the player, and a tablet has a wave to seek in", async () => {
  const { segments, samples } = interview();
  const talk = { metadata: interviewMetadata, segments };
  const name = await createTranscript(pages.service, talk, Uint8Array.from(wavOf(samples)));
  await using page = await pages.open(`/${name}`);
  await page.locator(".segment").first().waitFor();
  await page.locator(".player .wave").waitFor();
  const edges = (selector: string) =>
    page.evaluate<{ top: number; bottom: number; width: number }>(
      `(() => {
        const { top, bottom, width } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
        return { top, bottom, width };
      })()`,
    );
  // 1280 by 800 px at 200 %, and a phone on its side.
  for (const size of [
    { width: 640, height: 400 },
    { width: 844, height: 390 },
  ]) {
    await page.setViewportSize(size);
    const shown = await page.evaluate<number>(
      `(() => {
        const range = new Range();
        range.selectNodeContents(document.querySelector(".segment p"));
        return range.getClientRects()[0].bottom;
      })()`,
    );
    const { top } = await edges(".player");
    assert.ok(shown <= top, `the first line ends at ${shown}, the player begins at ${top}`);
  }
  for (const [width, height] of [
    [820, 1180],
    [1024, 768],
  ] as const) {
    await page.setViewportSize({ width, height });
    const wave = await edges(".wave");
    assert.ok(wave.width > 400, `the wave is ${wave.width} px wide at ${width} px`);
  }
});

test("the bar of live transcription leaves most of a phone to the text", async () => {
  await using page = await pages.open("/live");
  await page.setViewportSize({ width: 390, height: 844 });
  const bar = page.locator(".live-bar");
  await bar.waitFor();
  const { height = 0 } = (await bar.boundingBox()) ?? {};
  assert.ok(height < 0.25 * 844, `${height} px`);
  assert.equal(await page.locator(".live-delays").isVisible(), false);
});
