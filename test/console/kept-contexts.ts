import assert from "node:assert/strict";
import type { Browser, BrowserContext, BrowserContextOptions, Cookie, Page } from "playwright-core";

/**
 * Contexts of a browser that one test after another uses, each as if it were new: nothing is left of what was typed, kept or set. Only
 * files that the browser has loaded and compiled stay: a page opens with a third of the CPU time.
 */
export class KeptContexts {
  readonly #browser: Browser;
  readonly #origin: string;
  /** By their options. */
  readonly #free = new Map<string, Set<BrowserContext>>();

  constructor(browser: Browser, address: string) {
    this.#browser = browser;
    this.#origin = new URL(address).origin;
  }

  /** A page of a context that nobody uses. It is free for others once the page is closed, and by then all of its pages are. */
  async open(options: BrowserContextOptions): Promise<Page> {
    const key = JSON.stringify(options);
    const free = this.#free.get(key) ?? new Set();
    this.#free.set(key, free);
    const [kept] = free;
    if (kept) free.delete(kept);
    const context = kept ?? (await this.#browser.newContext(options));
    if (kept) await empty(kept);
    const page = await context.newPage();
    if (kept) await this.#emptyStorage(page);
    page.once("close", () => free.add(context));
    // Where it is closed itself, its pages are before it.
    if (!kept) context.once("close", () => free.delete(context));
    return page;
  }

  async #emptyStorage(page: Page): Promise<void> {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Storage.clearDataForOrigin", {
      origin: this.#origin,
      storageTypes: "local_storage,indexeddb,cache_storage,service_workers",
    });
    await devtools.detach();
  }
}

async function empty(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) await page.close();
  await context.unrouteAll();
  await context.setOffline(false);
  await context.clearCookies();
}

type NewCookie = Omit<Cookie, "expires" | "partitionKey">;

/** Signs in without the page of it, which has tests of its own: what a browser of that version would keep. */
export async function cookieOfKey(
  address: string,
  apiKey: string,
  version: string,
): Promise<NewCookie> {
  const { origin, hostname: domain } = new URL(address);
  const response = await fetch(`${address}/console/session`, {
    method: "POST",
    headers: {
      "x-hlust-console": "1",
      "content-type": "application/json",
      origin,
      "sec-fetch-site": "same-origin",
      "user-agent": `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`,
    },
    body: JSON.stringify({ apiKey }),
  });
  assert.equal(response.status, 200);
  const [, name = "", value = ""] =
    /^([^=]+)=([^;]+)/.exec(response.headers.getSetCookie()[0] ?? "") ?? [];
  return { name, value, domain, path: "/", httpOnly: true, secure: true, sameSite: "Strict" };
}
