// A person in Chromium and a client of the API, and two persons in two browsers, who edit one
// transcript at the same time through the real service: nothing of either is lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { RacingClient, withTextAt } from "../fixtures/racing-client.ts";
import { until } from "../fixtures/until.ts";
import { openEditing, openInterview, said, textsOf } from "./edited-page.ts";
import { expectProblems } from "./expected-problems.ts";
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
  expectProblems(page, /^409 POST .*:modifySegments$/);
  const name = nameOf(page);
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
    await edited(page).focus();
    await page.keyboard.press(round % 2 === 0 ? "Control+Home" : "Control+End");
    const racing = saveOnClient();
    const word = `ég${round}`;
    mine.push(word);
    await page.keyboard.type(` ${word} `);
    await Promise.all([save(page), racing]);
  }
  // The page takes what was saved after its last version when it saves again.
  await edited(page).focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" Loks ");
  await save(page);
  const words = await wordsOf(name);
  const all = [...said.flatMap((text) => text.split(" ")), ...mine, ...theirs, "Loks"];
  for (const word of all) assert.ok(words.includes(word), `${word} is lost`);
  const shown = (await textsOf(page)).join(" ").split(/\s+/);
  for (const word of all) assert.ok(shown.includes(word), `${word} is not on the page`);
});

test("two persons type and save in two browsers at the same time: each word of both is in both texts", async () => {
  const { status, json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Anna",
    scopes: ["transcripts.read", "transcripts.write"],
  });
  assert.equal(status, 200, JSON.stringify(json));
  await using mine = await openInterview(pages);
  expectProblems(mine, /^409 POST .*:modifySegments$/);
  const name = nameOf(mine);
  await using annas = await openEditing(pages, name, said.length, json.secret);
  const typed: string[] = [];
  for (let round = 0; round < 3; round++) {
    // In one round at the two ends of the text, in the next one both at its start.
    const places = [round % 2 === 0 ? "Control+Home" : "Control+End", "Control+Home"];
    await Promise.all(
      [mine, annas].map(async (page, at) => {
        const word = `${at === 0 ? "ég" : "hún"}${round}`;
        typed.push(word);
        await edited(page).focus();
        await page.keyboard.press(places[at] ?? "");
        await page.keyboard.type(` ${word} `);
        await save(page);
      }),
    );
  }
  const all = [...said.flatMap((text) => text.split(" ")), ...typed];
  const stored = await wordsOf(name);
  assert.deepEqual(
    all.filter((word) => !stored.includes(word)),
    [],
    "words that are lost",
  );
  // What the other has saved last comes into the text by itself.
  for (const page of [mine, annas]) {
    await until(async () => {
      const shown = (await textsOf(page)).join(" ").split(/\s+/);
      return all.every((word) => shown.includes(word));
    });
  }
});

function nameOf(page: Page): string {
  return new URL(page.url()).pathname.replace("/console/", "");
}

const edited = (page: Page) => page.getByRole("textbox", { name: "Textinn, í vinnslu" });
