// Files of subtitles, text and transcripts that become transcripts, and recordings that are added
// to transcripts that have none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { speak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { createInterview } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

interface TextFile {
  readonly name: string;
  readonly buffer: Buffer;
}

const file = (name: string, content: string, encoding: BufferEncoding = "utf8"): TextFile => ({
  name,
  buffer: Buffer.from(content, encoding),
});
const srt = "1\n00:00:01,000 --> 00:00:02,500\nGóðan dag, Þórður\n";
const vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Góðan dag\n";
const title = (page: Page) => page.getByRole("textbox", { name: "Titill" });
const submit = (page: Page) => page.getByRole("button", { name: "Flytja inn" }).click();

async function choose(page: Page, ...files: TextFile[]): Promise<void> {
  const input = page.locator("main form input[type=file]");
  await input.setInputFiles(files.map((each) => ({ ...each, mimeType: "" })));
}

/** Drops a file on the page. */
async function drop(page: Page, { name, buffer }: TextFile): Promise<void> {
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    const bytes = Uint8Array.from(atob("${buffer.toString("base64")}"), (char) => char.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}));
    const init = { dataTransfer, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new DragEvent("drop", init));
  })()`);
}

async function transcriptAt(page: Page) {
  const name = new URL(page.url()).pathname.replace("/console/", "");
  return (await pages.service.call("GET", `/v1alpha1/${name}`)).json;
}

function textOf({ segments }: { segments: { words: { word: string }[] }[] }): string {
  return segments.flatMap(({ words }) => words.map(({ word }) => word)).join("");
}

test("subtitles, text and a transcript become transcripts with only the keyboard", async () => {
  const interview = await createInterview(pages.service);
  const { json: original } = await pages.service.call("GET", `/v1alpha1/${interview}`);
  await using page = await pages.open("/transcripts");
  await page.getByRole("link", { name: "Flytja inn" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Innflutningur" }).waitFor();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "veldu skrár" }).press("Enter");
  await (
    await chooser
  ).setFiles(
    [
      // Many subtitles are in this encoding.
      file("gamlir_textar.srt", srt, "latin1"),
      file("ræða.txt", "Anna: Góðan dag\n\nBo: Já\n"),
      file("viðtal.json", JSON.stringify(original)),
    ].map((each) => ({ ...each, mimeType: "" })),
  );
  assert.equal(await title(page).first().inputValue(), "gamlir textar");
  await page.getByLabel("Á hvaða máli er textinn?").selectOption("is-IS");
  await checkLooks(page, "import");
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await title(page).nth(1).press("Enter");
  const done = page.getByRole("list", { name: "Búið að flytja inn" }).getByRole("link");
  await until(async () => (await done.count()) === 3);
  const { json } = await pages.service.call("GET", "/v1alpha1/transcripts?pageSize=3");
  const made = new Map<string, string>();
  for (const { name, metadata } of json.transcripts) {
    assert.equal(metadata.dataSource, "USER");
    assert.equal(metadata.languageCode, "is-IS");
    made.set(metadata.subject, name);
  }
  const text = async (subject: string) =>
    textOf((await pages.service.call("GET", `/v1alpha1/${made.get(subject)}`)).json);
  assert.equal(await text("gamlir textar"), "Góðan dag, Þórður");
  assert.equal(await text("ræða"), "Góðan dag Já");
  assert.equal(await text(original.metadata.subject), textOf(original));
});

test("a broken file names its line and the reason in both languages; the others are imported", async () => {
  await using page = await pages.open("/import");
  expectProblems(page, /^400 POST .*transcripts:import$/);
  await submit(page);
  await page.getByText("Veldu skrá.").waitFor();
  await choose(
    page,
    file("í lagi.vtt", vtt),
    file("biluð.srt", "1\n00:00:61,000 --> 00:01:02,000\nA"),
    file("biluð.json", '{\n"segments": [\n'),
    file("skjal.pdf", "%PDF"),
  );
  await page.getByText("Hér þarf SRT-, VTT-, TXT- eða JSON-skrá.").waitFor();
  await submit(page);
  await page.getByText("Lína 2: Mínútur og sekúndur þurfa að vera 0 til 59.").waitFor();
  await page.getByText("Lína 3: Þetta er ekki gilt JSON við staf 1").waitFor();
  await page.getByRole("list", { name: "Búið að flytja inn" }).getByRole("link").waitFor();
  // The first file with a problem has the focus.
  const focused = page.locator("input:focus");
  await until(async () => (await focused.inputValue()) === "biluð");
  await checkLooks(page, "import-problems", someLooks);
  await page.getByText("Line 2: Minutes and seconds must be 0 to 59.").waitFor();
  await page.getByRole("button", { name: "Remove biluð.json" }).click();
  await page.getByText("This is not valid JSON").waitFor({ state: "detached" });
});

test("a text that is dropped on any page is imported, and opened", async () => {
  await using page = await pages.open("/keys");
  await page.getByRole("heading", { level: 1, name: "Lyklar" }).waitFor();
  await drop(page, file("þáttur.vtt", vtt));
  await until(async () => (await title(page).inputValue()) === "þáttur");
  await drop(page, file("annar.txt", "Jæja"));
  await until(async () => (await title(page).count()) === 2);
  await page.getByRole("button", { name: "Fjarlægja annar.txt" }).click();
  await submit(page);
  await page.getByRole("heading", { level: 1, name: "þáttur" }).waitFor();
  const { segments, metadata } = await transcriptAt(page);
  assert.equal(textOf({ segments }), "Góðan dag");
  assert.equal(metadata.speakers["1"].fullName, "Anna");
});

test("a recording is added to a transcript that has none, with progress, and can be played", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  const region = page.getByRole("complementary").getByRole("region", { name: "Upptaka" });
  await region.getByText("Engin upptaka fylgir uppskriftinni.").waitFor();
  await checkLooks(page, "transcript-without-recording", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  const input = region.locator("input[type=file]");
  await input.setInputFiles({
    name: "mynd.pdf",
    mimeType: "application/pdf",
    buffer: Buffer.from("%PDF"),
  });
  await region.getByText("Þetta er ekki upptaka.").waitFor();

  // A long recording is on its way, and is cancelled.
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const network = (uploadThroughput: number) =>
    session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await network(20_000);
  const long = wavOf(new Int16Array(960_000));
  await input.setInputFiles({ name: "löng.wav", mimeType: "audio/wav", buffer: long });
  const line = region.getByRole("progressbar");
  await until(async () => Number(await line.getAttribute("value")) > 0, 60_000);
  await region.getByRole("button", { name: /^Hætta við/ }).click();
  await network(-1);
  await region.getByText("Engin upptaka fylgir uppskriftinni.").waitFor();

  await drop(page, {
    name: "viðtal.wav",
    buffer: Buffer.from(speak("good morning to all of you")),
  });
  await page.getByRole("button", { name: "Spila" }).waitFor({ timeout: 60_000 });
  await region.waitFor({ state: "detached" });
  const { metadata } = await transcriptAt(page);
  assert.equal(metadata.originalFilename, "viðtal.wav");
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  assert.deepEqual(json.jobs, [], "it is not transcribed");
});
