// The page of a transcript that is edited: going over from reading, playing, saving and leaving.
import assert from "node:assert/strict";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { until } from "../fixtures/until.ts";
import {
  caretOf,
  first,
  openEditing,
  placeCaret,
  pointOf,
  said,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import {
  changeElsewhere,
  createInterview,
  segmentsOf,
  turns,
  versionsOf,
} from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { settledTopOf, topOf } from "./settled-top.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

test("E goes over to editing and the button back to reading, at the same scroll place", async () => {
  const metadata = { ...interviewMetadata, speakers: {} };
  const name = await createTranscript(pages.service, { metadata, segments: longSegments(6_000) });
  await using page = await pages.open(`/${name}`);
  await page.locator(".segment").nth(299).waitFor({ state: "attached" });
  for (const y of [0, 9_000, 1_000_000]) {
    await page.evaluate(`scrollTo(0, ${y})`);
    const place = await settledTopOf(page);
    await page.keyboard.press("e");
    await page.locator(".words-text[contenteditable=true]").waitFor();
    assert.equal(await topOf(page), place, `editing, ${y}`);
    assert.equal(
      await page.evaluate("document.activeElement.className.includes('words-text')"),
      true,
    );
    await page.getByRole("button", { name: "Lesa", exact: true }).click();
    await page.locator(".words-text:not([contenteditable])").waitFor();
    assert.equal(await topOf(page), place, `reading, ${y}`);
  }
});

test("a key goes over to reading; with unsaved changes Enter saves a version first, and Escape keeps editing", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  const reading = page.locator(".words-text:not([contenteditable])");
  await page.keyboard.press("Shift+F4");
  await reading.waitFor();
  await page.keyboard.press("e");
  await page.locator(".words-text[contenteditable=true]").waitFor();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("Jæja. ");
  const dialog = page.getByRole("dialog", { name: "Óvistaðar breytingar" });
  await page.keyboard.press("Shift+F4");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Shift+F4");
  await dialog
    .getByRole("button", { name: "Vista", exact: true })
    .and(page.locator(":focus"))
    .waitFor();
  await page.keyboard.press("Enter");
  await reading.waitFor();
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}` }));
  assert.equal((await versionsOf(pages.service, name)).length, 2);
});

/** Opens a transcript with sound, and begins to edit it. */
async function openPlayable(): Promise<Page> {
  const { samples, segments } = interview();
  const media = Uint8Array.from(wavOf(samples));
  const transcript = { metadata: interviewMetadata, segments };
  const name = await createTranscript(pages.service, transcript, media);
  const page = await pages.open(`/${name}`);
  await page.getByRole("button", { name: "Spila" }).waitFor();
  await until(() => page.evaluate<boolean>("document.querySelector('video').readyState > 0"));
  return page;
}

interface Played {
  readonly place: number;
  readonly isPlaying: boolean;
  readonly word: string;
  readonly here: number;
}

function playedOf(page: Page): Promise<Played> {
  return page.evaluate(`(() => {
    const media = document.querySelector("video");
    const [range] = CSS.highlights.get("hlust-now") ?? [];
    const segments = [...document.querySelectorAll(".segment")];
    return {
      place: media.currentTime,
      isPlaying: !media.paused,
      word: range ? range.startContainer.data.slice(range.startOffset, range.endOffset) : "",
      here: segments.findIndex((one) => "here" in one.dataset),
    };
  })()`);
}

test("the sound goes on while the text is edited, and the word that is played stays highlighted", async () => {
  await using page = await openPlayable();
  await page.getByRole("button", { name: "Spila" }).click();
  await until(async () => (await playedOf(page)).place > 0.5);
  await page.keyboard.press("e");
  await page.locator(".words-text[contenteditable=true]").waitFor();
  assert.equal((await playedOf(page)).isPlaying, true);
  // Words are inserted before the words that are played: those are still highlighted.
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Halló og velkomin. ");
  // On a busy machine, the first paragraph may be over by now.
  await page.evaluate("document.querySelector('video').currentTime = 0.5");
  await until(async () => first.split(" ").includes((await playedOf(page)).word));
  await until(async () => (await playedOf(page)).here === 1);
  const { isPlaying } = await playedOf(page);
  assert.equal(isPlaying, true);
  await untilTexts(page, withTexts({ 0: `Halló og velkomin. ${first}` }));
});

test("a click places the caret; Ctrl with a click, and the time in the margin, seek", async () => {
  await using page = await openPlayable();
  await page.keyboard.press("e");
  await page.locator(".words-text[contenteditable=true]").waitFor();
  const offset = first.indexOf("Skeiðarár");
  await placeCaret(page, 0, offset + 2);
  assert.equal((await playedOf(page)).place, 0);
  const at = await pointOf(page, 0, offset + 2);
  await page.keyboard.down("Control");
  await page.mouse.click(at.x, at.y);
  await page.keyboard.up("Control");
  await until(async () => (await playedOf(page)).word === "Skeiðarár");
  const { place, isPlaying } = await playedOf(page);
  assert.ok(place > 1 && !isPlaying, String(place));
  await page.locator(".segment-time").nth(2).click();
  await until(async () => {
    const { here, isPlaying } = await playedOf(page);
    return here === 2 && isPlaying;
  });
  // Editing goes on where the caret was.
  await placeCaret(page, 1, 0);
  await page.keyboard.press("ArrowLeft");
  assert.deepEqual(await caretOf(page), { paragraph: 0, offset: first.length });
});

test("a text that is edited passes axe in every look, and is named for screen readers", async () => {
  await using page = await openPlayable();
  await page.keyboard.press("e");
  const text = page.getByRole("textbox", { name: "Textinn, í vinnslu" });
  await text.waitFor();
  assert.equal(await text.getAttribute("lang"), "is-IS");
  assert.equal(await text.getAttribute("aria-multiline"), "true");
  await placeCaret(page, 0, 3);
  await page.keyboard.type("x");
  await checkLooks(page, "transcript-edited", someLooks);
});

test("unsaved changes are still there after another page of the console", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Sko: ");
  const edited = withTexts({ 0: `Sko: ${first}` });
  await untilTexts(page, edited);
  await page.getByRole("link", { name: "Yfirlit" }).click();
  await page.getByRole("heading", { level: 1, name: "Yfirlit" }).waitFor();
  await page.goBack();
  await page.locator(".words-text[contenteditable=true]").waitFor();
  await untilTexts(page, edited);
  await page.getByText(/^Óvistaðar breytingar/).waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 1);
});

test("going back to reading asks about unsaved changes: save, discard or keep editing", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  const edit = async (text: string): Promise<void> => {
    await placeCaret(page, 0, 0);
    await page.keyboard.type(text);
    await page.getByRole("button", { name: "Lesa", exact: true }).click();
  };
  const dialog = page.getByRole("dialog", { name: "Óvistaðar breytingar" });
  await edit("eitt ");
  await dialog.getByRole("button", { name: "Breyta áfram" }).click();
  await untilTexts(page, withTexts({ 0: `eitt ${first}` }));
  await page.getByRole("button", { name: "Lesa", exact: true }).click();
  await dialog.getByRole("button", { name: "Henda breytingunum" }).click();
  await page.locator(".words-text:not([contenteditable])").waitFor();
  await untilTexts(page, said);
  assert.equal((await versionsOf(pages.service, name)).length, 1);
  await page.getByRole("button", { name: "Breyta texta" }).click();
  await page.locator(".words-text[contenteditable=true]").waitFor();
  await untilTexts(page, said);
  await edit("tvö ");
  await dialog.getByRole("button", { name: "Vista" }).click();
  await page.locator(".words-text:not([contenteditable])").waitFor();
  await untilTexts(page, withTexts({ 0: `tvö ${first}` }));
  assert.equal((await versionsOf(pages.service, name)).length, 2);
});

test("metadata that others changed meanwhile is not overwritten when the text is saved", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("x");
  await changeElsewhere(pages.service, name, { metadata: { subject: "Annað" } });
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  await untilTexts(page, withTexts({ 0: `x${first}` }));
  assert.equal((await versionsOf(pages.service, name)).length, 3);
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(json.metadata.subject, "Annað");
});

test("a name that the user gives a speaker next to the text does not get in the way of saving", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("x");
  await page.getByRole("button", { name: "Breyta nafninu Fréttamaður" }).click();
  const field = page.getByRole("textbox", { name: "Nafn mælanda S1" });
  await field.fill("Anna");
  await field.press("Enter");
  await until(async () => (await versionsOf(pages.service, name)).length === 2);
  await placeCaret(page, 1, 0);
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.match(json.metadata.speakers.S1.fullName, /Anna/);
  assert.equal(json.segments[0].words[0].word.trim(), "xGóðan");
});

test("an earlier version, and a transcript of which the key may only read, cannot be edited", async () => {
  const name = await createInterview(pages.service);
  const [version] = await versionsOf(pages.service, name);
  const id = version?.name.split("/").at(-1) ?? "";
  await using page = await pages.open(`/${name}?version=${id}`);
  await page.locator(".segment").first().waitFor();
  await page.keyboard.press("e");
  assert.equal(await page.getByRole("button", { name: "Breyta texta" }).count(), 0);
  assert.equal(await page.locator("[contenteditable]").count(), 0);
});

test("the editor is loaded only when it is needed, and takes at most 110 kB", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open("/nowhere");
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(`${pages.service.address}/console/${name}`);
  await page.locator(".segment").first().waitFor();
  const isOfEditor = (path: string) => path.includes("/edited-words-");
  assert.equal(loaded.filter(isOfEditor).length, 0);
  const before = loaded.length;
  await page.keyboard.press("e");
  await page.locator(".words-text[contenteditable=true]").waitFor();
  const more = loaded.slice(before).filter((path) => path.endsWith(".js"));
  assert.ok(more.some(isOfEditor), more.join());
  const assets = join(import.meta.dirname, "../../dist/console/assets");
  const bytes = more.reduce((sum, path) => {
    const [file] = globSync(`${path.split("/").at(-1)}.gz`, { cwd: assets });
    return sum + statSync(join(assets, file ?? "missing")).size;
  }, 0);
  assert.ok(bytes > 10_000 && bytes <= 110_000, `${bytes} bytes`);
});

test("Ctrl+Shift+S saves with a note, which the list of versions shows, also after a merge", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await page.keyboard.press("Control+Shift+s");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  const saveWith = async (note: string): Promise<void> => {
    await page.keyboard.press("Control+Shift+s");
    await page.getByRole("dialog", { name: "Vista sem útgáfu með athugasemd" }).waitFor();
    await page.keyboard.type(note);
    await page.keyboard.press("Enter");
    await page.getByText("Engar óvistaðar breytingar").waitFor();
    await until(async () => (await page.getByRole("dialog").count()) === 0);
  };
  await saveWith("Inngangi bætt við");
  await page.keyboard.type("Sko. ");
  await changeElsewhere(pages.service, name, { metadata: { subject: "Hlaupið" } });
  await changeElsewhere(pages.service, name, { segments: segmentsOf(turns.slice(0, 3)) });
  await saveWith("Sko og jæja");
  // The next version has no note, unless the user writes one.
  await page.keyboard.type("Nú. ");
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}/versions?pageSize=1000`);
  const notes = json.versions.map(({ note }: { note: string }) => note);
  assert.deepEqual(notes, ["", "Sko og jæja", "", "", "Inngangi bætt við", ""]);
  assert.equal(json.versions[1].kind, "MERGED");
  await page.locator(".version-note").getByText("Sko og jæja").waitFor();
  await page.keyboard.type("x");
  await page.keyboard.press("Control+Shift+s");
  await page.getByRole("textbox", { name: "Athugasemd" }).fill("á".repeat(1_001));
  await page.getByText("1 staf of langt: mest 1.000 stafir.").waitFor();
  const dialog = page.getByRole("dialog");
  const send = dialog.getByRole("button", { name: "Vista", exact: true });
  assert.equal(await send.isDisabled(), true);
  await page.keyboard.press("Escape");
  await until(() => page.evaluate<boolean>("document.activeElement.isContentEditable"));
});

test("a text that was emptied and saved can be edited again, as can one that never had words", async () => {
  for (const turn of [turns, []]) {
    const name = await createInterview(pages.service, { said: turn });
    await using page = await pages.open(`/${name}`);
    const textbox = page.getByRole("textbox", { name: "Textinn, í vinnslu" });
    const begin = async (): Promise<void> => {
      await page.getByRole("button", { name: "Breyta texta" }).waitFor();
      await page.keyboard.press("e");
      await textbox.waitFor();
    };
    if (turn.length > 0) {
      await page.locator(".segment").nth(3).waitFor({ state: "attached" });
      await begin();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await page.keyboard.press("Control+s");
      await page.getByText("Engar óvistaðar breytingar").waitFor();
      await page.getByRole("button", { name: "Lesa", exact: true }).click();
    }
    await page.getByText("Texti þessarar útgáfu er tómur.").waitFor();
    await begin();
    await page.keyboard.type("Upp á nýtt");
    await page.keyboard.press("Enter");
    await page.keyboard.type("og áfram");
    await page.keyboard.press("Control+s");
    await page.getByText("Engar óvistaðar breytingar").waitFor();
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
    const saved: { words: { word: string }[] }[] = json.segments;
    assert.deepEqual(
      saved.map(({ words }) =>
        words
          .map(({ word }) => word)
          .join("")
          .trim(),
      ),
      ["Upp á nýtt", "og áfram"],
    );
    await page.getByRole("button", { name: "Lesa", exact: true }).click();
    await page.locator(".segment").nth(1).waitFor();
    await begin();
    await untilTexts(page, ["Upp á nýtt", "og áfram"]);
  }
});
