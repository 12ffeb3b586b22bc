import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openBrowser, type Program } from "../fixtures/open-browser.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { within } from "../fixtures/until.ts";
import { keepExpected } from "./expected-problems.ts";
import { cookieOfKey, KeptContexts } from "./kept-contexts.ts";
import { putAxe } from "./put-axe.ts";

/**
 * The console of a real service in Debian's Chromium. The tests check that no page does anything
 * forbidden.
 */
export interface TestPages extends AsyncDisposable {
  readonly service: TestService;
  /** Watches all pages of another browser's context, as those that open() opens. */
  watch(context: BrowserContext): void;
  /**
   * Opens a path under /console/ in a browser that has stored only the console's own files. The
   * user is signed in with the first key, or with `key`, unless `key` is undefined. The test closes
   * the page (`await using`), so that the next page opens in a third of the time.
   */
  open(
    path: string,
    options?: {
      readonly key?: string | undefined;
      readonly look?: Look;
      readonly context?: BrowserContextOptions;
      /** The address under which the page calls the service. Default: its own. */
      readonly address?: string;
    },
  ): Promise<Page>;
}

/** The size, language and theme in which a page is shown. */
export interface Look {
  readonly size: "phone" | "desktop";
  readonly language: "is" | "en";
  readonly theme: "light" | "dark";
}

const sizes = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const;

/** All combinations of size and language, each with one theme. */
export const looks: readonly Look[] = [
  { size: "desktop", language: "is", theme: "light" },
  { size: "desktop", language: "en", theme: "dark" },
  { size: "phone", language: "is", theme: "dark" },
  { size: "phone", language: "en", theme: "light" },
];

/**
 * Each size and each language once, for states of a page that differ little from states in other
 * tests.
 */
export const someLooks: readonly Look[] = [
  { size: "desktop", language: "is", theme: "dark" },
  { size: "phone", language: "en", theme: "light" },
];

/** What the pages of a file have done. */
interface Found {
  /** What no page may do. */
  readonly violations: string[];
  /** What went wrong, whether or not a test expected it. */
  readonly problems: string[];
  readonly expected: RegExp[];
}

/** The folder for screenshots. */
const pictures = join(tmpdir(), "hlust-pictures");

/**
 * Opens a service and a browser. `args` are further arguments for Chromium, and `program` is "full"
 * for pages that use a microphone. Disposing of the result fails if any page has violated its
 * policy, sent a request to another origin, opened a dialog or thrown an error; or if a request
 * failed or the browser logged an error or a warning, unless the test expected it (expectProblems).
 */
export async function openTestPages(
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  program: Program = "shell",
): Promise<TestPages> {
  await using parts = new AsyncDisposableStack();
  const service = parts.use(await openTestService({ HLUST_ENGINE: "scripted", ...environment }));
  const browser = await openBrowser(args, program);
  parts.defer(() => browser.close());
  const found: Found = { violations: [], problems: [], expected: [] };
  const contexts = new KeptContexts(browser, service.address);
  const watch = watchTo(found);
  const open = parts.move();
  return {
    service,
    watch: (context) => watch(context, new URL(service.address).origin),
    async open(path, options = {}) {
      const { look = looks[0], context: more, address = service.address } = options;
      const page = await contexts.open({
        locale: look?.language === "en" ? "en-GB" : "is-IS",
        timezoneId: "Atlantic/Reykjavik",
        ...more,
      });
      const key = "key" in options ? options.key : service.key;
      if (key !== undefined) {
        const cookie = await cookieOfKey(service.address, key, browser.version());
        await within("a cookie is set", page.context().addCookies([cookie]));
      }
      watch(page.context(), new URL(address).origin);
      if (!more?.viewport) {
        await within("its size is set", page.setViewportSize(sizes[look?.size ?? "desktop"]));
      }
      if (!more?.colorScheme) {
        await within(
          "its theme is set",
          page.emulateMedia({ colorScheme: look?.theme ?? "light" }),
        );
      }
      await page.goto(`${address}/console${path}`);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await open.disposeAsync();
      const { violations, problems, expected } = found;
      const isExpected = (problem: string) => expected.some((pattern) => pattern.test(problem));
      assert.deepEqual([...violations, ...problems.filter((one) => !isExpected(one))], []);
    },
  };
}

/**
 * Returns a function that watches all pages of a context: also further tabs, and those that are
 * opened after a crash. Contexts are kept, so each is watched once.
 */
function watchTo(found: Found): (context: BrowserContext, origin: string) => void {
  const origins = new Map<BrowserContext, Set<string>>();
  return (context, origin) => {
    const known = origins.get(context);
    if (known) {
      known.add(origin);
      return;
    }
    const own = new Set([origin]);
    origins.set(context, own);
    keepExpected(context, found.expected);
    for (const page of context.pages()) watchPage(page, own, found);
    context.on("page", (page) => watchPage(page, own, found));
  };
}

/**
 * Opens a page that is not watched, with the cookies and storage of another page: for tests that
 * leave the service, or send pages that a browser must refuse.
 */
export async function openUnwatched(page: Page): Promise<Page> {
  const storageState = await page.context().storageState();
  const context = await page.context().browser()?.newContext({ storageState, locale: "is-IS" });
  assert.ok(context, "the browser is closed");
  return await context.newPage();
}

function watchRequests(page: Page, add: (problem: string) => void): void {
  page.on("response", (response) => {
    if (response.status() < 400) return;
    const { pathname, search } = new URL(response.url());
    add(`${response.status()} ${response.request().method()} ${pathname}${search}`);
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // The page itself ended the request, or was left.
    if (reason === "net::ERR_ABORTED") return;
    const { pathname, search } = new URL(request.url());
    add(`${reason} ${request.method()} ${pathname}${search}`);
  });
}

function watchPage(
  page: Page,
  origins: ReadonlySet<string>,
  { violations, problems }: Found,
): void {
  watchRequests(page, (problem) => problems.push(problem));
  page.on("console", (message) => {
    const text = message.text();
    // Failed requests are reported with their methods.
    if (text.startsWith("Failed to load resource")) return;
    const isOfPolicy = /Content Security Policy|Trusted ?Type/i.test(text);
    if (isOfPolicy) violations.push(`${message.type()}: ${text}`);
    else if (/^(error|warning)$/.test(message.type())) problems.push(`${message.type()}: ${text}`);
  });
  page.on("pageerror", (error) => {
    violations.push(`thrown: ${error.message}`);
  });
  page.on("dialog", (dialog) => {
    // "Leave this page?" is the browser's own question, which the console requests.
    if (dialog.type() !== "beforeunload") violations.push(`dialog: ${dialog.message()}`);
    void dialog.accept();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    const isOwn = origins.has(url.origin) || url.protocol === "blob:" || url.protocol === "data:";
    if (!isOwn) violations.push(`request elsewhere: ${url.origin}`);
  });
}

/**
 * Checks a page in each look: nothing is wider than the screen, and axe finds nothing in it. Takes
 * screenshots as `<name>-<size>-<language>-<theme>.png`. `wanted` is all looks or
 * someLooks; each look costs 0.4 s of CPU.
 */
export async function checkLooks(page: Page, name: string, wanted = looks): Promise<void> {
  await mkdir(pictures, { recursive: true });
  for (const look of wanted) {
    await show(page, look);
    const shown = `${name}-${look.size}-${look.language}-${look.theme}`;
    await page.screenshot({ path: join(pictures, `${shown}.png`), animations: "disabled" });
    const { scrollWidth } = await page.evaluate<{ scrollWidth: number }>(
      "({ scrollWidth: document.documentElement.scrollWidth })",
    );
    assert.ok(scrollWidth <= sizes[look.size].width, `${shown} is ${scrollWidth} px wide`);
    assert.deepEqual(await findingsOfAxe(page), [], shown);
  }
}

/** Shows the page in another size, theme and language. The language is chosen on the page. */
export async function show(page: Page, look: Look): Promise<void> {
  await page.setViewportSize(sizes[look.size]);
  await page.emulateMedia({ colorScheme: look.theme });
  const lang = await page.locator("html").getAttribute("lang");
  if (lang !== look.language) {
    const choice = page.getByLabel(lang === "is" ? "Tungumál" : "Language", { exact: true });
    // A dialog may cover the choice, hence `force`.
    await choice.selectOption(look.language, { force: true });
  }
}

/**
 * Returns what axe finds in a page as it is shown, whatever the impact. axe stays in the page. It
 * does not load style sheets and media again ("preload"), which takes half of its time: only rules
 * that every-page.test.ts checks need them. `within` is a selector of the part to check.
 */
export async function findingsOfAxe(page: Page, within = "html"): Promise<string[]> {
  await putAxe(page);
  return await page.evaluate<
    string[]
  >(`axe.run(${JSON.stringify(within)}, { resultTypes: ["violations"], preload: false }).then(({ violations }) =>
    violations
      .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`);
}
