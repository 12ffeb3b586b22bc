import assert from "node:assert/strict";
import type { Browser, BrowserContext, BrowserContextOptions, Cookie, Page } from "playwright-core";
import { within } from "../fixtures/until.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

/**
 * Browser contexts that tests reuse. Everything that a test has typed, stored or set in a context
 * is removed. Only files that the browser has loaded and compiled stay, so that opening a page
 * takes a third of the CPU time.
 */
export class KeptContexts {
  readonly #browser: Browser;
  readonly #origin: string;
  /** The free contexts, by their options. */
  readonly #free = new Map<string, Set<BrowserContext>>();

  constructor(browser: Browser, address: string) {
    this.#browser = browser;
    this.#origin = new URL(address).origin;
  }

  /** Opens a page in a free context, which can be reused once the page is closed. */
  async open(options: BrowserContextOptions): Promise<Page> {
    const key = JSON.stringify(options);
    const free = this.#free.get(key) ?? new Set();
    this.#free.set(key, free);
    const page = (await this.#openKept(free)) ?? (await this.#openNew(options, free));
    page.once("close", () => free.add(page.context()));
    const close = page.close.bind(page);
    page.close = (...options) => within("a page is closed", close(...options));
    return page;
  }

  async #openNew(options: BrowserContextOptions, free: Set<BrowserContext>): Promise<Page> {
    const context = await within("a new context", this.#browser.newContext(options));
    context.setDefaultTimeout(30_000 * cpuSlowness);
    // When the context itself is closed, its pages are closed first, so the context counts as free.
    context.once("close", () => free.delete(context));
    return await within("its first page", context.newPage());
  }

  /**
   * Opens a page in a free context. A context that Chromium fails to empty is abandoned, with a
   * message.
   */
  async #openKept(free: Set<BrowserContext>): Promise<Page | undefined> {
    const [kept] = free;
    if (!kept) return undefined;
    free.delete(kept);
    try {
      return await openEmptied(kept, this.#origin);
    } catch (error) {
      console.error("a kept context was abandoned:", error);
      return undefined;
    }
  }
}

async function openEmptied(context: BrowserContext, origin: string): Promise<Page> {
  for (const page of context.pages()) await within("its pages are closed", page.close());
  await within("its routes are removed", context.unrouteAll());
  await within("it is online", context.setOffline(false));
  await within("its cookies are removed", context.clearCookies());
  const page = await within("a new page", context.newPage());
  const devtools = await within("a DevTools session", context.newCDPSession(page));
  const storageTypes = "local_storage,indexeddb,cache_storage,service_workers";
  await within(
    "its storage is cleared",
    devtools.send("Storage.clearDataForOrigin", { origin, storageTypes }),
  );
  await within("the DevTools session is closed", devtools.detach());
  return page;
}

type NewCookie = Omit<Cookie, "expires" | "partitionKey">;

/** Signs in without the sign-in page, which has its own tests. Returns the session's cookie. */
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
