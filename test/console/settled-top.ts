import type { Page } from "playwright-core";

/**
 * Returns the paragraph at the top once it has been the same in ten frames: parts that come into
 * view are laid out in some frames, and the text moves, at its end even out of view for a moment.
 */
export async function settledTopOf(page: Page): Promise<string> {
  const nextFrame = "new Promise((done) => requestAnimationFrame(() => done()))";
  let top = "";
  for (let frames = 0; frames < 10; frames += 1) {
    await page.evaluate(nextFrame);
    const now = await topOf(page);
    if (now === "" || now !== top) frames = 0;
    top = now;
  }
  return top;
}

/**
 * Returns the paragraph at the top of the screen, with its distance from the top; "" if the screen
 * shows none.
 */
export function topOf(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const segments = [...document.querySelectorAll(".segment")];
    const at = segments.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    return at < 0 ? "" : at + " at " + Math.round(segments[at].getBoundingClientRect().top);
  })()`);
}
