// Random commands, really typed in Chromium. After each of them the text on the page is that of a
// plain list of paragraphs, and what is saved in the end has the words of that list. The title of
// the test has the seed; PROPERTY_SEED repeats it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { Page } from "playwright-core";
import type { PlainParagraph } from "../fixtures/edit-model.ts";
import { modelOf } from "../fixtures/edited-state.ts";
import { baseOf } from "../../src/console/transcript/edit/model/base.ts";
import type { SegmentJson } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openEditing, untilTexts } from "./edited-page.ts";
import { createInterview, segmentsOf, turns } from "./edited-transcript.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { drawnTyping, TypedText } from "./typed-text.ts";

const seed = Number(process.env["PROPERTY_SEED"] ?? Date.now() % 1_000_000_000);
/** The number of texts, and of the commands that change each. */
const counts = { texts: 1, commands: 60 };

const speakers: Readonly<Record<string, string>> = { S1: "Fréttamaður", S2: "Mælandi S2" };

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

test(`the text on the page is what a plain list becomes by the same keys (PROPERTY_SEED=${seed})`, async () => {
  const length = { minLength: counts.commands, maxLength: counts.commands };
  const drawn = fc.sample(fc.array(drawnTyping, length), { seed, numRuns: counts.texts });
  for (const commands of drawn) {
    const name = await createInterview(pages.service);
    await using page = await openEditing(pages, name);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const base = baseOf(segmentsOf(turns));
    const model = modelOf(base);
    const typed = await TypedText.open(page, model, base);
    const done: string[] = [];
    for (const command of commands) {
      done.push(JSON.stringify(command));
      try {
        await typed.run(command);
        await untilShown(page, model.text.paragraphs);
      } catch (cause) {
        throw new Error(`after ${done.join("\n")}`, { cause });
      }
    }
    if (model.text.paragraphs.every(({ text }) => text.trim() === "")) continue;
    await page.keyboard.press("Control+s");
    await page.getByText("Engar óvistaðar breytingar").waitFor();
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
    assert.deepEqual(
      json.segments.flatMap(spokenIn),
      model.text.paragraphs.flatMap(({ text, speaker }) =>
        wordsOf(text).map((word) => ({ word, speaker })),
      ),
    );
  }
});

/** Waits until the page shows the paragraphs, and checks their speakers in the margin. */
async function untilShown(page: Page, paragraphs: readonly PlainParagraph[]): Promise<void> {
  await untilTexts(
    page,
    paragraphs.map(({ text }) => text),
  );
  const shown = await page.evaluate<string[]>(
    `Array.from(document.querySelectorAll(".segment-speaker"), (one) => one.textContent)`,
  );
  const names = paragraphs.map(({ speaker }, at) => {
    return speaker === paragraphs[at - 1]?.speaker ? "" : speakers[speaker];
  });
  assert.deepEqual(shown, names);
}

function spokenIn({ words = [], speakerId: speaker = "" }: SegmentJson) {
  return wordsOf(words.map(({ word }) => word).join("")).map((word) => ({ word, speaker }));
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
