import assert from "node:assert/strict";
import type { Browser, BrowserContext, BrowserContextOptions, Cookie, Page } from "playwright-core";
import { within } from "../fixtures/until.ts";

/**
 * Browser contexts that tests reuse, each as if it were new: everything typed, stored or set is
 * removed. Only files that the browser has loaded and compiled stay, so that a page opens with a
 * third of the CPU time.
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

  /** A page in an unused context, which can be reused once the page is closed. */
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
    // When the context itself is closed, its pages are closed before it.
    context.once("close", () => free.delete(context));
    return await within("its first page", context.newPage());
  }

  /** A context that Chromium fails to empty is abandoned, with a message. */
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
  for (const page of context.pages()) await within("no pages", page.close());
  await within("no routes", context.unrouteAll());
  await within("on line", context.setOffline(false));
  await within("no cookies", context.clearCookies());
  const page = await within("a new page", context.newPage());
  const devtools = await within("its tools", context.newCDPSession(page));
  const storageTypes = "local_storage,indexeddb,cache_storage,service_workers";
  await within(
    "nothing stored",
    devtools.send("Storage.clearDataForOrigin", { origin, storageTypes }),
  );
  await within("its tools put away", devtools.detach());
  return page;
}

type NewCookie = Omit<Cookie, "expires" | "partitionKey">;

/** Signs in without the sign-in page, which has its own tests; returns the session's cookie. */
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
