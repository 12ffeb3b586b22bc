// Every page of the console, with names that are hard to lay out: nothing moves, nothing is wider
// than the window or cut, lines stay readable, axe finds nothing, targets are large enough, the
// focus is never covered at 400 %, and no error is logged. Every dialog, at 400 %.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { speak } from "../fixtures/flite.ts";
import { checkDialog } from "./check-dialog.ts";
import { focusCovered } from "./focus-covered.ts";
import { shiftOf } from "./check-page.ts";
import { dialogsElsewhere, dialogVisits } from "./dialog-visits.ts";
import { arabic, fillAccount, hebrew, longTitle } from "./full-account.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript } from "./spoken-transcript.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Made = Awaited<ReturnType<typeof fillAccount>>;

interface Visit {
  /** The path of the route in the frame, or what else is visited. */
  readonly route: string;
  /** The path under /console. Default: the route. */
  readonly path?: string | ((made: Made) => string);
  /** A selector of what the page shows last. */
  readonly shown: string;
}

const visits: readonly Visit[] = [
  { route: "/", shown: ".overview-activity .rows" },
  { route: "/transcripts", shown: ".transcript-row, main [role=row], main li" },
  { route: "/transcripts/:id", path: ({ transcript }) => transcript, shown: ".segment" },
  {
    route: "/transcripts/:id/examples",
    path: ({ transcript }) => `${transcript}/examples`,
    shown: "main pre",
  },
  { route: "/import", shown: "main form" },
  { route: "/bin", shown: "main li" },
  { route: "/jobs", shown: ".jobs-rows li" },
  { route: "the form for a new job", path: "/jobs?new", shown: ".new-job" },
  { route: "/live", shown: "main button" },
  { route: "/vocabulary", shown: "main li" },
  { route: "/keys", shown: "main li" },
  { route: "/programs", shown: "main pre" },
  { route: "/webhooks", shown: "main li" },
  { route: "/webhooks/:id", path: ({ webhook }) => webhook, shown: ".webhook-facts" },
  { route: "/usage", shown: "main table" },
  { route: "/account/settings", shown: "main form" },
  { route: "/operator", shown: "main table" },
  { route: "/help", shown: "main h2" },
  { route: "/account", shown: "main li" },
  { route: "a page that does not exist", path: "/nowhere", shown: "h1" },
  { route: "a shared transcript", path: ({ shared }) => shared, shown: ".segment" },
  { route: "the sign-in page", path: "/", shown: "form" },
];
const signedOut = new Set(["a shared transcript", "the sign-in page"]);

let pages: TestPages;
let made: Made;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  made = await fillAccount(pages.service, new Uint8Array(speak("good morning to all of you")));
});
after(() => pages[Symbol.asyncDispose]());

test("every route of the frame is visited", () => {
  const file = join(resolve(import.meta.dirname, "../.."), "src/console/frame/frame.tsx");
  const source = readFileSync(file, "utf8");
  const routes = Array.from(source.matchAll(/path: "([^"]+)"/g), ([, path = ""]) => path);
  assert.ok(routes.length > 12);
  const visited = new Set(visits.map(({ route }) => route));
  assert.deepEqual(
    routes.filter((route) => !visited.has(route)),
    [],
  );
});

for (const visit of visits) {
  test(`${visit.route}: stays in place, fits, passes axe and logs no error`, async () => {
    const options = signedOut.has(visit.route) ? { key: undefined } : {};
    await using page = await pages.open("/../healthz", options);
    const errors: string[] = [];
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      errors.push(`logged: ${message.text()} ${message.location().url}`);
    });
    // Each answer comes later than the one before, so that what makes room for itself is seen.
    let calls = 0;
    await page.route("**/console/api/**", async (route) => {
      calls += 1;
      await sleep(Math.min(calls, 6) * 50);
      await route.continue();
    });
    const { path = visit.route } = visit;
    const to = typeof path === "string" ? path : path(made);
    await page.goto(`${pages.service.address}/console${to}`);
    await settled(page, visit.shown);
    const shift = await shiftOf(page);
    page.on("console", (message) => {
      if (message.type() === "warning") errors.push(`warned: ${message.text()}`);
    });
    const found = [
      ...(shift < 0.05 ? [] : [`shifts by ${shift.toFixed(3)}`]),
      ...(await page.evaluate<string[]>(leftTexts)),
      ...(await findingsOfAxe(page, { width: 1280, colorScheme: "light" })),
      ...(await findingsOfAxe(page, { width: 390, colorScheme: "dark" })),
      ...(await tooWide(page)),
      ...(await coveredFocus(page)),
      ...errors,
    ];
    assert.deepEqual(found, []);
  });
}

test("every dialog of the console is checked, here or where a test can open it", () => {
  const folder = resolve(import.meta.dirname, "../..");
  const files = globSync("src/console/**/*.tsx", { cwd: folder });
  const shown = files.flatMap((file) => {
    const source = readFileSync(join(folder, file), "utf8");
    const tags = source.matchAll(/<(?:DialogBox|ModalOverlay)(?: |$)/gm);
    return tags.map(() => file.replace("src/console/", "")).toArray();
  });
  assert.ok(shown.length > 35, `${shown.length}`);
  const visited = dialogVisits.flatMap(({ dialogs }) => Object.keys(dialogs));
  const checked = visited.map((name) => name.replace(/:.*/, ""));
  const own = Object.values(dialogsElsewhere).flat();
  // Every other dialog is made of this one.
  const all = [...checked, ...own, "parts/dialog-box.tsx"];
  assert.deepEqual(all.toSorted(), shown.toSorted());
  for (const file of Object.keys(dialogsElsewhere)) {
    const source = readFileSync(join(import.meta.dirname, file), "utf8");
    assert.match(source, /await checkDialog\(/, file);
  }
});

for (const { path, shown, before: prepare, dialogs } of dialogVisits) {
  const names = Object.keys(dialogs).join(", ");
  test(`at 400 % and in forced colors, nothing is lost in ${names}`, async () => {
    await using page = await pages.open(typeof path === "string" ? path : path(made));
    await settled(page, shown);
    await prepare?.(page);
    for (const [file, openDialog] of Object.entries(dialogs)) {
      await openDialog(page);
      await checkDialog(page, file);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });
}

test("in the palette and in questions, hostile titles lose nothing", async () => {
  const titles = [
    longTitle,
    `${arabic} \u202eReversed\u202c ${hebrew} 123`,
    `Z${"\u0334\u0321\u0353\u0356\u0300\u0313".repeat(8)}algo`.repeat(4).slice(0, 240),
    "👩🏽‍👩🏽‍👧🏽‍👦🏽".repeat(20),
  ];
  const names: string[] = [];
  for (const subject of titles) {
    const metadata = { subject, languageCode: "is-IS", fileType: "AUDIO" };
    names.push(await createTranscript(pages.service, { metadata, segments: [] }));
  }
  await using page = await pages.open("/usage");
  for (const [at, subject] of titles.entries()) {
    await page.goto(`${pages.service.address}/console/${names[at]}`);
    await page.getByRole("button", { name: "Eyða uppskriftinni" }).press("Enter");
    await page.getByRole("dialog").getByText(subject).waitFor();
    await checkDialog(page, `the question about ${subject}`);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.keyboard.press("Control+k");
  for (const subject of titles) {
    await page.getByRole("dialog").getByText(subject).first().waitFor();
  }
  await checkDialog(page, "the palette");
});

test("in forced colors, rows that are selected, current, failed or waiting differ by more than color", async () => {
  await using page = await pages.open("/transcripts");
  await page.emulateMedia({ forcedColors: "active" });
  const selects = page.locator(".transcript-row .select");
  await selects.first().check();
  const boxes = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".transcript-row .select")].slice(0, 2).map((box) =>
      box.checked + " " + (getComputedStyle(box).appearance === "none"))`,
  );
  assert.deepEqual(boxes, ["true false", "false false"]);
  await page.goto(`${pages.service.address}/console/jobs`);
  await page.locator(".jobs-rows li").nth(3).waitFor();
  // The sentence about a failure is loaded later.
  const states = () =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll(".job-row .job-state")].map((state) =>
        state.dataset.sign + state.textContent)`,
    );
  await until(async () => (await states()).every((state) => state.length > 1));
  assert.deepEqual(new Set((await states()).map(([sign]) => sign)), new Set(["○", "–", "✕"]));
  await page.goto(`${pages.service.address}/console${made.transcript}`);
  await page.locator(".version").nth(1).waitFor();
  const weights = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".version")].map((version) =>
      getComputedStyle(version).borderLeftStyle)`,
  );
  assert.deepEqual(weights, ["double", "solid"]);
});

/** Waits until a page shows all that it loads. */
async function settled(page: Page, shown: string): Promise<void> {
  await page.locator(shown).first().waitFor();
  await until(() =>
    page.evaluate<boolean>(
      `!/Sæki…/.test(document.body.innerText) && document.fonts.status === "loaded"`,
    ),
  );
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
  await page.evaluate(axe);
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

/** The maximum number of controls of a page that are visited; lists repeat theirs. */
const visitedMax = 60;

/**
 * Goes through the controls of a page with the Tab key at 400 % in forced colors, and returns those
 * that are covered by a bar, outside of the window or without an outline while they have the focus.
 */
async function coveredFocus(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 320, height: 256 });
  await page.emulateMedia({ forcedColors: "active" });
  await page.evaluate("scrollTo(0, 0); document.activeElement.blur()");
  const found = new Set<string>();
  for (let at = 0; at < visitedMax; at += 1) {
    await page.keyboard.press("Tab");
    const covered = await page.evaluate<string | null>(focusCovered);
    if (covered === null) break;
    if (covered !== "") found.add(`at 400 %: ${covered}`);
  }
  return [...found];
}
