// The transcript's page in windows of six sizes: nothing that takes the focus is below the player,
// the picture or the navigation, and the picture can be enlarged and closed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { filmOf } from "./film.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages();
  const description = "Viðtalið var tekið við brúna að morgni dags. ".repeat(8);
  const metadata = { ...interviewMetadata, fileType: "VIDEO", description };
  const film = filmOf(talk.samples);
  name = await createTranscript(pages.service, { metadata, segments: talk.segments }, film);
  // Several versions, so that the list next to the text is longer than the window.
  for (const subject of ["Hlaupið", "Skeiðarárhlaup", "Hlaup í Skeiðará"]) {
    const path = `/v1alpha1/${name}?updateMask=metadata.subject`;
    const changed = await pages.service.call("PATCH", path, { metadata: { subject } });
    assert.equal(changed.status, 200, JSON.stringify(changed.json));
  }
});
after(() => pages[Symbol.asyncDispose]());

const sizes = [
  { width: 320, height: 568 },
  { width: 360, height: 740 },
  { width: 820, height: 1180 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
  { width: 2560, height: 1440 },
];

async function openVideo(size: { width: number; height: number }): Promise<Page> {
  const page = await pages.open(`/${name}`);
  await page.setViewportSize(size);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("button", { name: "Spila" }).waitFor();
  await until(() => page.evaluate<boolean>("document.querySelector('video').videoWidth === 320"));
  await page.locator(".version").nth(2).waitFor();
  return page;
}

/** Gives the focus to all controls, and returns those whose center something else covers. */
function hiddenControls(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const hidden = [];
    const controls = document.querySelectorAll("main :is(a[href], button, select, input, textarea, [tabindex='0'])");
    for (const control of controls) {
      control.focus();
      if (document.activeElement !== control) continue;
      const { left, right, top, bottom } = control.getBoundingClientRect();
      if (right - left < 2 || bottom - top < 2) continue;
      const shown = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const isShown = shown && (control.contains(shown) || shown.contains(control) && !shown.querySelector(".player") || control.labels?.[0]?.contains(shown));
      if (!isShown) hidden.push(control.tagName + " " + (control.getAttribute("aria-label") ?? control.textContent).slice(0, 40) + " under " + shown?.className);
      const isOut = right > innerWidth + 1 || left < -1;
      if (isOut) hidden.push(control.tagName + " " + control.textContent.slice(0, 40) + " is outside");
    }
    return hidden;
  })()`);
}

for (const size of sizes) {
  const shown = `${size.width} x ${size.height}`;
  test(`in ${shown} no control that has the focus is covered, whether the picture is small, large or closed`, async () => {
    await using page = await openVideo(size);
    const picture = page.locator(".picture");
    const small = await picture.locator("video").boundingBox();
    assert.deepEqual(await hiddenControls(page), [], "small");
    await page.getByRole("button", { name: "Stækka myndskeiðið" }).click();
    const shrink = page.getByRole("button", { name: "Minnka myndskeiðið" });
    await shrink.waitFor();
    assert.deepEqual(await hiddenControls(page), [], "large");
    const large = await picture.locator("video").boundingBox();
    assert.ok(small && large, "the picture is shown");
    const isLarger = large.width * large.height > 1.2 * small.width * small.height;
    assert.ok(isLarger, JSON.stringify([small, large]));
    const { scrollWidth } = await page.evaluate<{ scrollWidth: number }>(
      "({ scrollWidth: document.documentElement.scrollWidth })",
    );
    assert.ok(scrollWidth <= size.width, `${scrollWidth} px wide`);
    // The text that is played is below the picture.
    await page.locator("h1").focus();
    await page.keyboard.press("6");
    await until(() =>
      page.evaluate<boolean>(`(() => {
        const [range] = CSS.highlights.get("hlust-now") ?? [];
        if (!range) return false;
        const word = document.createRange();
        word.setStart(range.startContainer, range.startOffset);
        word.setEnd(range.endContainer, range.endOffset);
        const { left, top, bottom } = word.getBoundingClientRect();
        const shown = document.elementFromPoint(left + 2, (top + bottom) / 2);
        return shown?.closest(".words-text, .words") !== null;
      })()`),
    );
    await page.getByRole("button", { name: "Loka myndskeiðinu" }).click();
    await picture.waitFor({ state: "detached" });
    assert.deepEqual(await hiddenControls(page), [], "closed");
  });
}

test("before the page is scrolled, what is next to the text ends above the player", async () => {
  for (const size of sizes.filter(({ width }) => width > 1100)) {
    await using page = await openVideo(size);
    const [aside, player] = await Promise.all(
      [".reading-aside", ".player"].map((part) => page.locator(part).boundingBox()),
    );
    assert.ok(aside && player);
    assert.ok(aside.y + aside.height <= player.y + 1, JSON.stringify({ size, aside, player }));
  }
});
