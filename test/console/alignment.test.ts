// The console aligns the words of a transcript to its sound.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls, slow, speech, unaligned } from "../spec/alignment.ts";
import { segmentOf } from "../spec/transcripts.ts";
import { openEditing, placeCaret, untilTexts } from "./edited-page.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
let calls: AlignmentCalls;
before(async () => {
  pages = await openTestPages({ HLUST_ENGINE: "scripted" });
  calls = new AlignmentCalls(pages.service);
});
after(() => pages[Symbol.asyncDispose]());

const align = (page: Page) => page.getByRole("button", { name: "Stilla orð við hljóð" });

const again = (page: Page) => page.getByRole("button", { name: "Skrifa upp aftur" });

async function openAside(name: string, key?: string): Promise<Page> {
  const page = await pages.open(`/${name}`, key === undefined ? {} : { key });
  await page.getByRole("heading", { name: "Útgáfur" }).waitFor();
  return page;
}

test("the button makes a version, and the page moves to it", async () => {
  const name = await calls.create(speech);
  const { version } = await calls.get(name);
  await using page = await openAside(name);
  await align(page).click();
  const said = page.getByRole("status").filter({ hasText: "Orðin eru stillt við hljóðið" });
  await said.waitFor({ state: "attached" });
  await page.getByRole("link", { name: "Tímum breytt" }).waitFor();
  await align(page).waitFor();
  const after = await calls.get(name);
  assert.equal(after.version.parent, version.name);
});

test("progress is shown, also after a reload, and can be cancelled", async () => {
  const name = await calls.create(slow);
  await using page = await openAside(name);
  await align(page).click();
  await page.getByRole("progressbar", { name: "Stilling orða við hljóð" }).waitFor();
  await page.reload();
  await page.getByRole("progressbar", { name: "Stilling orða við hljóð" }).waitFor();
  await page.getByRole("button", { name: "Hætta við stillingu" }).click();
  await align(page).waitFor();
  assert.equal((await calls.get(`${name}/alignmentjob`)).state, "CANCELLED");
});

test("a text that changes meanwhile is kept, and the page says so", async () => {
  const name = await calls.create(slow);
  await using page = await openAside(name);
  await align(page).click();
  await page.getByRole("progressbar").waitFor();
  const change = { segments: [segmentOf("önnur orð")] };
  await pages.service.call("PATCH", `/v1alpha1/${name}`, change);
  await page.getByRole("alert").filter({ hasText: "Textanum var breytt á meðan" }).waitFor();
  await checkLooks(page, "alignment-stale", someLooks);
});

test("while the text is edited, the words are aligned and the changes keep", async () => {
  const transcript = {
    metadata: unaligned.metadata,
    segments: [segmentOf("Góðan dag, kæru "), segmentOf("hlustendur um land allt", 40)],
  };
  const name = await calls.create(speech, transcript);
  await using page = await openEditing(pages, name, 2);
  await page.getByRole("heading", { name: "Útgáfur" }).waitFor();
  await placeCaret(page, 0, "Góðan dag, ".length);
  await page.keyboard.type("ágætu ");
  await align(page).click();
  await page.getByRole("link", { name: "Tímum breytt" }).waitFor();
  const aligned = await calls.get(name);
  assert.equal(aligned.version.kind, "ALIGNED");
  assert.notDeepEqual(timesOf(aligned), timesOf(transcript));
  // The text is still open, with what was typed.
  const texts = ["Góðan dag, ágætu kæru ", "hlustendur um land allt"];
  await untilTexts(page, texts);
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  await untilTexts(page, texts);
  const saved = await calls.get(name);
  assert.equal(saved.version.kind, "MERGED");
  assert.deepEqual(
    timesOf(saved).filter(([word]) => word !== "ágætu "),
    timesOf(aligned),
  );
  assert.equal(saved.version.parent, aligned.version.name);
  const clash = page.getByRole("dialog");
  assert.equal(await clash.count(), 0, "the times of a text do not clash with its words");
});

test("a recording is transcribed again in another language with a chosen model, and the page moves to the new version", async () => {
  const name = await calls.create(speech);
  const { version } = await calls.get(name);
  await using page = await openAside(name);
  expectProblems(page, /^400 POST .*transcriptjob:submit$/);
  await again(page).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("verður áfram til sem eldri útgáfa").waitFor();
  const spoken = dialog.getByLabel("Hvaða mál er talað?");
  assert.equal(await spoken.inputValue(), "is-IS");
  // The service has no model that distinguishes speakers.
  await dialog.getByText("Mælendur verða ekki greindir í sundur").waitFor();
  assert.equal(await dialog.getByRole("combobox").count(), 2);
  await checkLooks(page, "transcribe-again", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  // The model of this service takes no hints, which the dialog says at the field.
  await dialog.getByRole("textbox", { name: "Orð sem búast má við" }).fill("Hlust, Ægir");
  await dialog.getByRole("button", { name: "Skrifa upp" }).click();
  await dialog.getByText("Líkan þessa tungumáls tekur ekki við orðum").waitFor();
  await dialog.getByRole("textbox", { name: "Orð sem búast má við" }).fill("");
  await spoken.selectOption("en-US");
  await dialog.getByLabel("Líkan").selectOption("scripted");
  const requested = page.waitForRequest(
    (request) => request.postData()?.includes("en-US") === true,
  );
  await dialog.getByRole("button", { name: "Skrifa upp" }).click();
  const { model, diarizationConfig } = (await requested).postDataJSON();
  assert.deepEqual([model, diarizationConfig], ["scripted", undefined]);
  await dialog.waitFor({ state: "detached" });
  await page.locator(".toast").getByText("Upptakan er komin í röðina").waitFor();
  await page
    .locator("main")
    .getByText(/^Word1/)
    .waitFor({ timeout: 60_000 });
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  assert.deepEqual(
    json.jobs.map((job: { readonly newVersionOf?: string }) => job.newVersionOf),
    [name],
  );
  const made = await calls.get(name);
  assert.deepEqual([made.version.parent, made.metadata.languageCode], [version.name, "en-US"]);
});

test("with a model that distinguishes speakers, their maximum number is chosen, or none", async () => {
  const name = await calls.create(speech);
  await using page = await pages.open("/nowhere");
  expectProblems(page, /^400 POST .*transcriptjob:submit$/);
  const scripted = { name: "scripted", languageCodes: ["en-US", "is-IS"], uses: ["JOB"] };
  const diarization = { name: "diarization", languageCodes: [], uses: [] };
  const models = { json: { models: [scripted, diarization] } };
  await page.route("**/v2beta1/models", (route) => route.fulfill(models));
  await page.goto(`${pages.service.address}/console/${name}`);
  const dialog = page.getByRole("dialog");
  const asked = async (speakers: string) => {
    await again(page).click();
    await dialog.getByLabel("Mælendur").selectOption(speakers);
    const requested = page.waitForRequest(/transcriptjob:submit$/);
    await dialog.getByRole("button", { name: "Skrifa upp", exact: true }).click();
    return (await requested).postDataJSON().diarizationConfig;
  };
  // This service has no such model and refuses it, which the dialog says.
  assert.deepEqual(await asked("Mest 2 mælendur"), {
    enableSpeakerDiarization: true,
    maxSpeakerCount: 2,
  });
  await dialog.getByText("Ekkert líkan er uppsett sem greinir mælendur í sundur.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await asked("Ekki greindir í sundur"), { enableSpeakerDiarization: false });
  await page.locator(".toast").getByText("Upptakan er komin í röðina").waitFor();
});

/** Returns the words of a transcript with their times. */
function timesOf({ segments }: { readonly segments: readonly Segment[] }) {
  return segments.flatMap(({ words }) =>
    words.map(({ word, startTime, endTime }) => [word, ...[startTime, endTime].map(parseFloat)]),
  );
}

interface Segment {
  readonly words: readonly { word: string; startTime: string; endTime: string }[];
}

test("there is no button without media, words or write access", async () => {
  const name = await calls.create(speech);
  const { json } = await pages.service.call("POST", "/v1/apiKeys", {
    scopes: ["transcripts.read"],
  });
  await using reading = await openAside(name, json.secret);
  assert.equal(await align(reading).count(), 0);
  assert.equal(await again(reading).count(), 0);
  await using silent = await openAside(await calls.create());
  assert.equal(await align(silent).count(), 0);
  assert.equal(await again(silent).count(), 0);
  const { metadata } = await calls.get(name);
  const wordless = { metadata, segments: [] };
  await using empty = await openAside(await calls.create(speech, wordless));
  assert.equal(await align(empty).count(), 0);
  await using able = await openAside(name);
  await until(async () => (await align(able).count()) === 1);
});
