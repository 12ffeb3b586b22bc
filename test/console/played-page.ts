import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openEditing } from "./edited-page.ts";
import type { TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

/** The interview with its sound. */
export const talk = interview();

/** Creates a transcript of the interview with its sound. Returns its name. */
export async function createTalk(pages: TestPages): Promise<string> {
  const media = Uint8Array.from(wavOf(talk.samples));
  const { segments } = talk;
  return await createTranscript(pages.service, { metadata: interviewMetadata, segments }, media);
}

/** Opens a transcript with sound, and begins to edit it. */
export async function openPlayable(pages: TestPages, name: string): Promise<Page> {
  const page = await openEditing(pages, name);
  await page.waitForFunction("document.querySelector('video, audio')?.readyState > 0");
  return page;
}

/** The state of the media element. */
export interface Played {
  readonly place: number;
  readonly isPlaying: boolean;
  readonly rate: number;
}

export const played = (page: Page): Promise<Played> =>
  page.evaluate<Played>(
    `(({ currentTime, paused, playbackRate }) =>
        ({ place: currentTime, isPlaying: !paused, rate: playbackRate }))(document.querySelector("video, audio"))`,
  );

export const untilPlayed = (page: Page, isSo: (now: Played) => boolean): Promise<void> =>
  until(async () => isSo(await played(page)));

/**
 * Keeps settings of the editor, as another browser of the user would. The spelling checker is off,
 * by which editAgain() knows that the page has them.
 */
export async function keepSettings(page: Page, chosen: object): Promise<void> {
  const editing = { checksSpelling: false, ...chosen };
  const body = JSON.stringify(JSON.stringify({ settings: { editing } }));
  const status = await page.evaluate(`(async () => {
    const headers = { "content-type": "application/json", "x-hlust-console": "1" };
    const { account, actor } = await (await fetch("/console/session", { headers })).json();
    headers["x-hlust-console-for"] = account.name + " " + actor;
    return (await fetch("/console/settings", { method: "PUT", headers, body: ${body} })).status;
  })()`);
  assert.equal(status, 200);
}

/** Begins to edit with the kept settings, after the page was loaded again. */
export async function editAgain(page: Page): Promise<void> {
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await until(() => page.evaluate("document.querySelector('video, audio')?.readyState > 0"));
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  await until(() => page.evaluate("document.querySelector('.words-text').spellcheck === false"));
}
