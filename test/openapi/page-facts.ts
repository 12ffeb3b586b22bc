import type { Page } from "playwright-core";

/** Facts about a page, measured in the browser. */
export interface PageFacts {
  readonly ids: readonly string[];
  /** The target of every link, as written. */
  readonly links: readonly string[];
  /** The text of the main part. */
  readonly text: string;
  /** The levels of the headings, in order. */
  readonly levels: readonly number[];
  readonly lang: string;
  readonly title: string;
  readonly mains: number;
  /** The labels of the navigation elements. */
  readonly navs: readonly string[];
  /** The number of faults of each kind; all should be 0. */
  readonly faults: Readonly<Record<string, number>>;
  /** The width of the visible content, in pixels. */
  readonly width: number;
  /**
   * The elements that extend over the right edge, except inside code boxes, which scroll
   * independently.
   */
  readonly cutOff: readonly string[];
}

/** A text with its color and its background color, as rgb(1, 2, 3). */
export interface TextColors {
  readonly text: string;
  readonly ink: string;
  readonly paper: string;
}

// The script is text, because browser names do not exist in Node.
const facts = `(() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  return {
    ids: all("[id]").map(({ id }) => id),
    links: all("a").map((link) => link.getAttribute("href") ?? ""),
    text: document.querySelector("main").textContent,
    levels: all("h1, h2, h3, h4, h5, h6").map(({ tagName }) => Number(tagName.slice(1))),
    lang: document.documentElement.lang,
    title: document.title,
    mains: all("main").length,
    navs: all("nav").map((nav) => nav.getAttribute("aria-label") ?? ""),
    width: document.documentElement.scrollWidth,
    cutOff: all("body *").filter((one) =>
      one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("pre")).map(({ outerHTML }) => outerHTML.slice(0, 80)),
    faults: {
      sectionsWithoutName: all("section").filter((section) =>
        !section.getAttribute("aria-labelledby").split(" ").every((id) => document.getElementById(id))).length,
      linksWithoutText: all("a, summary, button").filter((one) => one.textContent.trim() === "").length,
      termsOutsideLists: all("dt, dd").filter((one) => !one.closest("dl")).length,
      itemsOutsideLists: all("li").filter((one) => !one.closest("ul, ol")).length,
      scrollersOutOfReach: all("pre").filter((pre) =>
        pre.scrollWidth > pre.clientWidth && pre.getAttribute("tabindex") !== "0").length,
      picturesThatAreRead: all("svg").filter((svg) => svg.getAttribute("aria-hidden") !== "true").length,
    },
  };
})()`;

const colors = `(() => {
  const pairs = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent.trim();
    if (text === "") continue;
    let behind = node.parentElement;
    let paper = "rgba(0, 0, 0, 0)";
    while (behind !== null && paper.endsWith(", 0)")) {
      paper = getComputedStyle(behind).backgroundColor;
      behind = behind.parentElement;
    }
    const ink = getComputedStyle(node.parentElement).color;
    pairs.set(ink + paper, { text: text.slice(0, 40), ink, paper });
  }
  return [...pairs.values()];
})()`;

const violation = `new Promise((resolve) => {
  addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective));
  const image = document.createElement("img");
  image.src = "https://example.org/x.png";
  document.body.append(image);
})`;

const focus = `(() => {
  const { left, width } = document.activeElement.getBoundingClientRect();
  const { outlineStyle } = getComputedStyle(document.activeElement);
  return { text: document.activeElement.textContent, left, width, outlineStyle };
})()`;

const print = `({
  rail: getComputedStyle(document.querySelector(".rail")).display,
  paper: getComputedStyle(document.body).backgroundColor,
  cut: Array.from(document.querySelectorAll("pre, .shown")).filter((box) =>
    box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1).length,
})`;

/** Paragraphs of several lines, of which 40 are measured. */
const lines = `[...document.querySelectorAll("main p, main dd")].filter((one) =>
  one.textContent.length > 200).slice(0, 40).flatMap((one) => {
    const range = new Range();
    range.selectNodeContents(one);
    const tops = [...range.getClientRects()].filter(({ height }) => height > 1)
      .map(({ bottom }) => Math.round(bottom / 8));
    const perLine = one.textContent.length / Math.max(1, new Set(tops).size);
    return perLine > 110 ? [Math.round(perLine) + ": " + one.textContent.slice(0, 60)] : [];
  })`;

/** Returns the paragraphs whose lines have more than 110 characters. */
export function longLines(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(lines);
}

export function factsOf(page: Page): Promise<PageFacts> {
  return page.evaluate<PageFacts>(facts);
}

/**
 * Returns each pair of text color and background color on the page, with one text that has these
 * colors.
 */
export function textColors(page: Page): Promise<TextColors[]> {
  return page.evaluate<TextColors[]>(colors);
}

/** Violates the page's policy, and returns the directive that was violated. */
export function violatePolicy(page: Page): Promise<string> {
  return page.evaluate<string>(violation);
}

/** Returns facts about the element that has the focus. */
export function focusOf(
  page: Page,
): Promise<{ text: string; left: number; width: number; outlineStyle: string }> {
  return page.evaluate<{ text: string; left: number; width: number; outlineStyle: string }>(focus);
}

export function printedLook(page: Page): Promise<{ rail: string; paper: string; cut: number }> {
  return page.evaluate<{ rail: string; paper: string; cut: number }>(print);
}

/** Returns the contrast ratio of two colors according to WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = Array.from(color.matchAll(/[\d.]+/g), ([text]) => +text / 255);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function linear(part: number): number {
  return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}
