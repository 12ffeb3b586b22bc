import type { Page } from "playwright-core";
import { focusProblems } from "./focus-problems.ts";
import { putAxe } from "./put-axe.ts";

/** The maximum number of controls of a page that are visited; lists repeat theirs. */
const visitedMax = 60;

/**
 * Returns what is wrong with how a page is laid out, in any window and theme, and with its focus at
 * 400 %. Leaves the page in another window.
 */
export async function findingsOnPage(page: Page): Promise<string[]> {
  const found = await page.evaluate<string[]>(leftTexts);
  found.push(...(await findingsOfAxe(page, { width: 1280, colorScheme: "light" })));
  found.push(...(await findingsOfAxe(page, { width: 390, colorScheme: "dark" })));
  found.push(...(await tooWide(page)));
  await page.evaluate("scrollTo(0, 0); document.activeElement.blur()");
  found.push(...(await focusProblems(page, { within: "body", visitedMax })));
  return found;
}

/** Returns texts in Arabic or Hebrew that begin at the left. */
const leftTexts = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    const isShown = parentElement.checkVisibility() && !parentElement.closest("option, output");
    if (!/^\\s*[\\u0590-\\u06ff]/.test(data) || !isShown) continue;
    if (getComputedStyle(parentElement).direction === "rtl") continue;
    found.push("left: " + parentElement.outerHTML.slice(0, 160));
  }
  return found;
})()`;

/** Returns what axe finds, whatever the impact, with the size of targets. */
async function findingsOfAxe(
  page: Page,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: "light" | "dark" },
): Promise<string[]> {
  await page.setViewportSize({ width, height: 844 });
  await page.emulateMedia({ colorScheme });
  // Colors that are still changing have too little contrast.
  await page.evaluate("document.getAnimations().forEach((animation) => animation.finish())");
  await putAxe(page);
  return await page.evaluate<string[]>(`axe
    .run(document, {
      resultTypes: ["violations"],
      rules: { "target-size": { enabled: true } },
    })
    .then(({ violations }) => violations.map(({ id, nodes }) =>
      id + " at ${width} px: " + nodes.map(({ html }) => html.slice(0, 160)).join(" | ")))`);
}

/** 320 by 256 px is a window of 1280 by 1024 px at 400 %, 640 by 512 px one at 200 %. */
const windows = [
  [320, 256],
  [390, 844],
  [640, 512],
  [761, 800],
  [768, 1024],
  [1080, 800],
  [1440, 900],
  [1920, 1080],
  [2560, 1440],
] as const;

async function tooWide(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [width, height] of windows) {
    await page.setViewportSize({ width, height });
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    if (wide > width) found.push(`${wide} px wide at ${width} px`);
    found.push(
      ...(await page.evaluate<string[]>(cutAndLong)).map((one) => `at ${width} px, ${one}`),
    );
  }
  return found;
}

/**
 * Returns texts that are cut, or beyond the edges of the window, and texts with lines of more than
 * 110 characters. Boxes that scroll, and texts that end with an ellipsis, may be narrower.
 */
const cutAndLong = `(() => {
  const found = [];
  const nameOf = (one) => one.outerHTML.slice(0, 120);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = new Range();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (node.data.trim() === "" || !parent.checkVisibility({ visibilityProperty: true })) continue;
    if (parent.closest(".unseen, .skip, option, script, style, noscript")) continue;
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    if (boxes.length === 0) continue;
    let hides = false;
    for (let box = parent; box && box !== document.body; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box);
      hides ||= overflowX !== "visible";
    }
    const right = Math.max(...boxes.map((box) => box.right));
    const left = Math.min(...boxes.map((box) => box.left));
    if (!hides && (right > innerWidth + 1 || left < -1)) found.push("cut: " + nameOf(parent));
    const block = parent.closest("p, li, dd, td, div");
    if (!block || block.closest("pre, table, .ProseMirror, svg")) continue;
    const lines = new Set(boxes.map(({ top }) => Math.round(top))).size;
    const perLine = node.data.trim().length / lines;
    if (lines > 1 && perLine > 110) found.push("lines of " + Math.round(perLine) + ": " + nameOf(parent));
  }
  return found;
})()`;
