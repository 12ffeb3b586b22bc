import type { Page } from "playwright-core";

/** Characters that are composed at the caret, until they are committed or cancelled. */
export interface Composition extends AsyncDisposable {
  change(text: string): Promise<void>;
  /** Ends the composition with a text; "" cancels it. */
  commit(text: string): Promise<void>;
}

/** Begins to compose a text at the caret, as a dead key or an input method does. */
export async function composed(page: Page, text: string): Promise<Composition> {
  const devtools = await page.context().newCDPSession(page);
  const change = async (text: string): Promise<void> => {
    const { length } = text;
    await devtools.send("Input.imeSetComposition", {
      text,
      selectionStart: length,
      selectionEnd: length,
    });
  };
  await change(text);
  return {
    change,
    async commit(text) {
      await (text === "" ? change("") : devtools.send("Input.insertText", { text }));
    },
    [Symbol.asyncDispose]: () => devtools.detach(),
  };
}

/** Composes a text in steps, without pressing other keys. */
export async function compose(page: Page, steps: readonly string[], result: string): Promise<void> {
  const [first = "", ...others] = steps;
  await using composition = await composed(page, first);
  for (const step of others) await composition.change(step);
  await composition.commit(result);
}
