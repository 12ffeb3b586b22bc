import type { Browser, CDPSession } from "playwright-core";
import { until } from "../fixtures/until.ts";

/** A tab that Playwright does not see: it is hidden and frozen as those of users. */
export interface PlainTab {
  /** Returns the value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Hides and freezes the tab, as a phone does with those in the background; or ends that. */
  setFrozen(isFrozen: boolean): Promise<void>;
}

/** A window of a browser with a session's cookie, and its tabs. */
export interface PlainTabs extends AsyncDisposable {
  open(url: string): Promise<PlainTab>;
}

type Cookie = Readonly<Record<"name" | "value" | "domain" | "path", string>>;

/** Opens a window whose tabs have no emulated focus: Chromium freezes no tab that has one. */
export async function openPlainTabs(browser: Browser, cookie: Cookie): Promise<PlainTabs> {
  const root = await browser.newBrowserCDPSession();
  const { browserContextId } = await root.send("Target.createBrowserContext");
  const { name, value, domain, path } = cookie;
  const cookies = [{ name, value, domain, path, secure: true, httpOnly: true }];
  await root.send("Storage.setCookies", { browserContextId, cookies });
  return {
    async open(url) {
      const { targetId } = await root.send("Target.createTarget", { url, browserContextId });
      const { sessionId } = await root.send("Target.attachToTarget", { targetId, flatten: false });
      const calls = new Calls(root, sessionId);
      const tab: PlainTab = {
        async evaluate(expression) {
          const params = { expression, awaitPromise: true, returnByValue: true };
          const { result } = await calls.send("Runtime.evaluate", params);
          return result?.result?.value;
        },
        async setFrozen(isFrozen) {
          const state = isFrozen ? "frozen" : "active";
          await calls.send("Page.setWebLifecycleState", { state });
        },
      };
      await until(async () => (await tab.evaluate("document.readyState")) === "complete");
      return tab;
    },
    async [Symbol.asyncDispose]() {
      await root.send("Target.disposeBrowserContext", { browserContextId });
      await root.detach();
    },
  };
}

interface Answer {
  readonly id: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** Calls to a tab, as messages of the browser's session. */
class Calls {
  readonly #root: CDPSession;
  readonly #sessionId: string;
  #last = 0;

  constructor(root: CDPSession, sessionId: string) {
    this.#root = root;
    this.#sessionId = sessionId;
  }

  async send(method: string, params: object): Promise<Answer> {
    const id = ++this.#last;
    const message = JSON.stringify({ id, method, params });
    const answered = this.#answerTo(id);
    await this.#root.send("Target.sendMessageToTarget", { sessionId: this.#sessionId, message });
    return await answered;
  }

  async #answerTo(id: number): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const take = (event: { readonly sessionId: string; readonly message: string }): void => {
      if (event.sessionId !== this.#sessionId) return;
      const answer: Answer = JSON.parse(event.message);
      if (answer.id === id) resolve(answer);
    };
    this.#root.on("Target.receivedMessageFromTarget", take);
    return await promise.finally(() => this.#root.off("Target.receivedMessageFromTarget", take));
  }
}
