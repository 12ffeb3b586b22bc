// A person in Chromium and a client of the API who edit one transcript at the same time through the
// real service: nothing of either is lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { RacingClient, withTextAt } from "../fixtures/racing-client.ts";
import { until } from "../fixtures/until.ts";
import { openInterview, said, textsOf } from "./edited-page.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

const rounds = 6;

/**
 * Saves, and takes both where the other has changed the same words, until nothing is unsaved. A
 * page that was stale several times in a row waits for another key.
 */
async function save(page: Page): Promise<void> {
  let savedAt = -Infinity;
  const choose = page.getByRole("button", { name: "Sameina og vista" });
  await until(async () => {
    if (await choose.isVisible()) {
      for (const both of await page.getByRole("radio", { name: "Hvort tveggja:" }).all()) {
        await both.check();
      }
      await choose.click();
    }
    if (await page.getByText("Engar óvistaðar breytingar").isVisible()) return true;
    if (performance.now() - savedAt > 2_000) {
      savedAt = performance.now();
      await page.keyboard.press("Control+s");
    }
    return false;
  }, 30_000);
}

async function wordsOf(name: string): Promise<string[]> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const texts = json.segments.map(({ words }: { words: { word: string }[] }) =>
    words.map(({ word }) => word).join(""),
  );
  return texts.join(" ").split(/\s+/);
}

test("a person who types and saves races with a client that saves too: each word of both is in the end text", async () => {
  await using page = await openInterview(pages);
  const name = new URL(page.url()).pathname.replace("/console/", "");
  const client = new RacingClient(pages.service, name);
  await client.read();
  const [mine, theirs]: [string[], string[]] = [[], []];
  const saveOnClient = async (): Promise<void> => {
    for (let time = 0; time < 3; time++) {
      const at = theirs.push(`þau${theirs.length}`) - 1;
      await client.save((paragraphs) => {
        const index = at % paragraphs.length;
        const end = paragraphs[index]?.text.length ?? 0;
        return withTextAt(paragraphs, index, at % 3 === 0 ? 0 : end, ` ${theirs[at]} `);
      });
    }
  };
  for (let round = 0; round < rounds; round++) {
    // Notes about the other's versions move the text, so that a click would miss its place.
    await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).focus();
    await page.keyboard.press(round % 2 === 0 ? "Control+Home" : "Control+End");
    const racing = saveOnClient();
    const word = `ég${round}`;
    mine.push(word);
    await page.keyboard.type(` ${word} `);
    await Promise.all([save(page), racing]);
  }
  // The page takes what was saved after its last version when it saves again.
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" Loks ");
  await save(page);
  const words = await wordsOf(name);
  const all = [...said.flatMap((text) => text.split(" ")), ...mine, ...theirs, "Loks"];
  for (const word of all) assert.ok(words.includes(word), `${word} is lost`);
  const shown = (await textsOf(page)).join(" ").split(/\s+/);
  for (const word of all) assert.ok(shown.includes(word), `${word} is not on the page`);
});
