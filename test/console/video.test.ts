// A video on the page of its transcript: its picture is next to the text, or above it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { filmOf } from "./film.ts";
import { until } from "../fixtures/until.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages();
  const metadata = { ...interviewMetadata, fileType: "VIDEO" };
  name = await createTranscript(
    pages.service,
    { metadata, segments: talk.segments },
    filmOf(talk.samples),
  );
});
after(() => pages[Symbol.asyncDispose]());

async function openVideo(size?: { width: number; height: number }): Promise<Page> {
  const page = await pages.open(`/${name}`);
  if (size) await page.setViewportSize(size);
  await page.getByRole("button", { name: "Spila" }).waitFor();
  await until(() => page.evaluate<boolean>("document.querySelector('video').videoWidth === 320"));
  return page;
}

/** Returns how many colors the picture has on the screen. */
function colorsOf(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = new OffscreenCanvas(64, 36);
    const context = canvas.getContext("2d");
    context.drawImage(document.querySelector("video"), 0, 0, 64, 36);
    const { data } = context.getImageData(0, 0, 64, 36);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);
}

test("the picture plays, pauses when it is clicked, and can be hidden while the sound continues", async () => {
  await using page = await openVideo();
  await page.evaluate("document.querySelector('video').isTheSame = true");
  await until(async () => (await colorsOf(page)) > 20);
  await page.locator(".picture video").click();
  await page.getByRole("button", { name: "Gera hlé" }).waitFor();
  const placeOf = () => page.evaluate<number>("document.querySelector('video').currentTime");
  await until(async () => (await placeOf()) > 0.3);
  const toggle = page.getByRole("button", { name: "Myndskeið", exact: true });
  assert.equal(await toggle.getAttribute("aria-pressed"), "true");
  await toggle.click();
  await page.locator(".picture").waitFor({ state: "detached" });
  const hiddenAt = await placeOf();
  await until(async () => (await placeOf()) > hiddenAt + 0.3);
  await toggle.click();
  await page.locator(".picture").waitFor();
  assert.equal(await page.evaluate("document.querySelector('video').isTheSame"), true);
  await page.locator(".picture video").click();
  await until(() => page.evaluate<boolean>("document.querySelector('video').paused"));
  await checkLooks(page, "transcript-video");
});

test("a browser remembers that pictures are hidden", async () => {
  await using page = await openVideo();
  await page.getByRole("button", { name: "Myndskeið", exact: true }).click();
  await page.locator(".picture").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("button", { name: "Spila" }).waitFor();
  const toggle = page.getByRole("button", { name: "Myndskeið", exact: true });
  await toggle.waitFor();
  assert.equal(await toggle.getAttribute("aria-pressed"), "false");
  assert.equal(await page.locator(".picture").count(), 0);
  await toggle.click();
  await page.locator(".picture").waitFor();
});

/**
 * Gives the focus to everything that takes it, one after another, and returns what the picture then
 * covers.
 */
function coveredByPicture(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const picture = document.querySelector(".picture");
    const covered = [];
    const controls = document.querySelectorAll("main :is(a[href], button, select, input, [tabindex='0'])");
    for (const control of controls) {
      // The picture has controls of its own.
      if (picture.contains(control)) continue;
      control.focus();
      const { left, right, top, bottom } = control.getBoundingClientRect();
      if (right - left < 2) continue;
      const over = picture.getBoundingClientRect();
      const isOver =
        left < over.right && right > over.left && top < over.bottom - 1 && bottom > over.top + 1;
      if (isOver) covered.push(control.className + " " + control.textContent.slice(0, 40));
    }
    return covered;
  })()`);
}

const sizes = [
  { width: 1600, height: 900 },
  { width: 1280, height: 720 },
  { width: 1101, height: 500 },
  { width: 900, height: 700 },
  { width: 390, height: 844 },
  { width: 844, height: 390 },
];
for (const size of sizes) {
  test(`in ${size.width} x ${size.height} the picture covers no control and no word that plays`, async () => {
    await using page = await openVideo(size);
    // Without motion, a jump does not begin while the page still moves to the place before it.
    await page.emulateMedia({ reducedMotion: "reduce" });
    assert.deepEqual(await coveredByPicture(page), []);
    const picture = await page.locator(".picture video").boundingBox();
    assert.ok(picture && picture.width >= 160 && picture.height >= 90, JSON.stringify(picture));
    for (const key of ["9", "3", "6"]) {
      await page.locator("h1").focus();
      await page.keyboard.press(key);
      await until(() =>
        page.evaluate<boolean>(`(() => {
          const [range] = CSS.highlights.get("hlust-now") ?? [];
          if (!range) return false;
          const word = document.createRange();
          word.setStart(range.startContainer, range.startOffset);
          word.setEnd(range.endContainer, range.endOffset);
          const now = word.getBoundingClientRect();
          const picture = document.querySelector(".picture").getBoundingClientRect();
          const isUnder = now.left < picture.right && now.right > picture.left &&
            now.top < picture.bottom && now.bottom > picture.top;
          return !isUnder && now.top >= 0 && now.bottom <= innerHeight;
        })()`),
      );
    }
  });
}

test("an enlarged picture covers no control either, and is closed at itself", async () => {
  for (const size of [1, 3, 4].flatMap((at) => sizes[at] ?? [])) {
    await using page = await openVideo(size);
    await page.emulateMedia({ reducedMotion: "reduce" });
    const small = await page.locator(".picture video").boundingBox();
    await page.getByRole("button", { name: "Stækka myndskeiðið" }).click();
    await page.getByRole("button", { name: "Minnka myndskeiðið" }).waitFor();
    const large = await page.locator(".picture video").boundingBox();
    assert.ok(small && large && large.width * large.height > small.width * small.height);
    const at = `${size.width} x ${size.height}`;
    assert.deepEqual(await coveredByPicture(page), [], at);
    await page.getByRole("button", { name: "Loka myndskeiðinu" }).click();
    await page.locator(".picture").waitFor({ state: "detached" });
    // The next page begins with a small picture again.
    await page.getByRole("button", { name: "Myndskeið", exact: true }).click();
    const again = page.getByRole("button", { name: "Minnka myndskeiðið" });
    if (await again.isVisible()) await again.click();
  }
});

test("at 400 % the picture covers no control, small and large", async () => {
  await using page = await openVideo({ width: 320, height: 256 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  assert.deepEqual(await coveredByPicture(page), []);
  await page.getByRole("button", { name: "Stækka myndskeiðið" }).press("Enter");
  await page.getByRole("button", { name: "Minnka myndskeiðið" }).waitFor();
  assert.deepEqual(await coveredByPicture(page), []);
  await page.getByRole("button", { name: "Minnka myndskeiðið" }).press("Enter");
});

test("the picture and the bar of the editor do not cover each other", async () => {
  for (const size of sizes) {
    await using page = await openVideo(size);
    await page.getByRole("button", { name: "Breyta texta" }).click();
    await page.locator(".edit-bar").waitFor();
    for (const top of [0, 300, 10_000]) {
      await page.evaluate(`scrollTo({ top: ${top}, behavior: "instant" })`);
      const overlap = await page.evaluate<number>(`(() => {
        const [bar, picture] = [".edit-bar", ".picture video"].map((selector) =>
          document.querySelector(selector).getBoundingClientRect());
        const wide = Math.min(bar.right, picture.right) - Math.max(bar.left, picture.left);
        const high = Math.min(bar.bottom, picture.bottom) - Math.max(bar.top, picture.top);
        return Math.min(wide, high);
      })()`);
      assert.ok(overlap <= 1, `${overlap} px at ${size.width} x ${size.height}, ${top}`);
    }
  }
});

test("a recording without a picture has no picture to show or hide", async () => {
  const media = Uint8Array.from(wavOf(talk.samples));
  const { segments } = talk;
  const transcript = { metadata: interviewMetadata, segments };
  const sound = await createTranscript(pages.service, transcript, media);
  await using page = await pages.open(`/${sound}`);
  await page.getByRole("button", { name: "Spila" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Myndskeið", exact: true }).count(), 0);
  assert.equal(await page.locator(".picture").count(), 0);
});
