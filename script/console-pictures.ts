// Takes the screenshots in docs/pictures: each page of the built console, with sample recordings,
// on a service of its own.
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { expectProblems } from "../test/console/expected-problems.ts";
import { openTestPages, type Look, type TestPages } from "../test/console/open-test-pages.ts";
import {
  changeElsewhere,
  createInterview,
  segmentsOf,
  turns,
} from "../test/console/edited-transcript.ts";
import {
  createTranscript,
  interview,
  interviewMetadata,
} from "../test/console/spoken-transcript.ts";
import { wavOf } from "../test/fixtures/jobs-fixture.ts";
import { until } from "../test/fixtures/until.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "docs/pictures");
const phone: Look = { size: "phone", language: "is", theme: "dark" };
const microphone = join(root, "samples/is-IS.wav");

const others = [
  { subject: "Morgunfréttir, Vestfirðir", keywords: ["fréttir"] },
  { subject: "Fundur hafnarstjórnar", keywords: ["Hafnarfjörður", "fundur"] },
  { subject: "Störf þingsins", keywords: ["þingfundur"] },
  { subject: "Óundirbúinn fyrirspurnatími, 34. fundur", keywords: ["þingfundur", "fyrirspurnir"] },
];

await mkdir(folder, { recursive: true });
await using pages = await openTestPages(
  { HLUST_ENGINE: "auto" },
  [
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-audio-capture=${microphone}`,
  ],
  "full",
);
const { name, webhook } = await seed(pages);

await picture("sign-in", await pages.open("/", { key: undefined }), "h1");
await picture("overview", await pages.open("/"), ".usage");
await picture(
  "transcripts",
  await pages.open("/transcripts"),
  ".transcript-row, [role=listitem], main li",
);
await picture("transcript", await played(await pages.open(`/${name}`)), ".segment");
const onPhone = await pages.open(`/${name}`, { look: phone });
await picture("transcript-phone", await played(onPhone), ".segment");
await picture("editor", await edited(await pages.open(`/${name}`)), ".edit-cue[aria-current]");
await picture("editor-clash", await clashing(pages), "[role=dialog]");
await picture("jobs", await pages.open("/jobs"), ".row");
await picture("keys", await pages.open("/keys"), ".row");
await picture("account", await pages.open("/account"), "h2");
await picture("import", await pages.open("/import"), "main form");
await picture("bin", await pages.open("/bin"), "main li");
await picture("vocabulary", await pages.open("/vocabulary"), "main li");
await picture("webhooks", await pages.open("/webhooks"), "main li");
await picture("webhook", await pages.open(`/${webhook}`), ".webhook-facts");
await picture("operator", await pages.open("/operator"), "main table");
await picture("programs", await pages.open("/programs"), "main pre");
await picture("usage", await pages.open("/usage"), "main table");
await picture("account-settings", await pages.open("/account/settings"), "main form");
await picture("help", await pages.open("/help"), "main h2");
await picture("new-transcript", await pages.open("/jobs?new"), ".new-job");
await picture("examples", await pages.open(`/${name}/examples`), "main pre");
await picture("shared", await pages.open(await shareOf(pages), { key: undefined }), ".segment");
const live = await pages.open("/live", { context: { permissions: ["microphone"] } });
await live.getByRole("button", { name: "Hlusta" }).click();
await picture("live", live, ".live-said");

/** Shares the interview, and returns the path of its page under /console. */
async function shareOf({ service }: TestPages): Promise<string> {
  const { json } = await service.call("POST", `/v1alpha1/${name}/shares`, { withMedia: true });
  return json.uri.replace(/^.*\/console/, "");
}

async function picture(title: string, page: Page, waitsFor: string): Promise<void> {
  await page.locator(waitsFor).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(folder, `${title}.png`), animations: "disabled" });
  await page.close();
}

/** Seeks in the media, as if the transcript had been played for a while. */
async function played(page: Page): Promise<Page> {
  await page.locator("video[src], audio[src]").waitFor({ state: "attached" });
  await until(() => page.evaluate<boolean>("document.querySelector('video').readyState > 0"));
  await page.evaluate("document.querySelector('video').currentTime = 16.5");
  return page;
}

/** Begins to edit, corrects a word, and shows the subtitles of the text next to it. */
async function edited(page: Page): Promise<Page> {
  await editing(page);
  await page.locator(".segment p").first().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("Komið þið sæl. ");
  await page.keyboard.press("Shift+F2");
  await page.locator(".edit-cue-lines").getByText("Komið þið sæl.").first().waitFor();
  await page.getByText("drög geymd hér").waitFor();
  return page;
}

/** Edits words that someone else has changed in the meantime, and saves. */
async function clashing(pages: TestPages): Promise<Page> {
  const talk = await createInterview(pages.service);
  const page = await editing(await pages.open(`/${talk}`));
  await page.locator(".segment p").first().click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+Shift+ArrowRight");
  await page.keyboard.type("Sælan ");
  const theirs = turns.map(
    ([speaker, text]) => [speaker, text.replace("Góðan", "Blessaðan")] as const,
  );
  expectProblems(page, /^409 POST .*:modifySegments$/);
  await changeElsewhere(pages.service, talk, { segments: segmentsOf(theirs) });
  await page.keyboard.press("Control+s");
  return page;
}

async function editing(page: Page): Promise<Page> {
  await page.locator(".segment").nth(3).waitFor();
  await page.keyboard.press("e");
  await page.locator(".words-text[contenteditable=true]").waitFor();
  return page;
}

/** Fills the account with data. Returns the names of the interview's transcript and a webhook. */
async function seed({
  service,
}: TestPages): Promise<{ readonly name: string; readonly webhook: string }> {
  const call = async (method: string, path: string, body: object) => {
    const { status, json } = await service.call(method, path, body);
    if (status !== 200) throw new Error(JSON.stringify(json));
    return json;
  };
  await call("PATCH", "/v1/account", { displayName: "Fréttastofan" });
  const talk = interview();
  const media = Uint8Array.from(wavOf(talk.samples));
  for (const { subject, keywords } of others) {
    const metadata = { ...interviewMetadata, subject, keywords };
    await createTranscript(service, { metadata, segments: talk.segments }, media);
  }
  const { segments } = talk;
  const deleted = { ...interviewMetadata, subject: "Prufa" };
  const binned = await createTranscript(service, { metadata: deleted, segments });
  await call("POST", "/v1alpha1/transcripts:bin", { names: [binned] });
  for (const phrase of ["Skeiðará", "Núpsstaður", "Þórdís Ægisdóttir"]) {
    await call("POST", "/v2beta1/vocabularyPhrases", { phrase, languageCode: "is-IS" });
  }
  const receiver = { url: "https://frettastofan.example/uppskriftir", displayName: "Fréttakerfið" };
  const { webhook } = await call("POST", "/v1/webhooks", receiver);
  const made = await createTranscript(service, { metadata: interviewMetadata, segments }, media);
  await until(async () => {
    const { json } = await service.call("GET", `/v1alpha1/${made}`);
    return json.metadata.waveformUri !== "";
  });
  for (const [displayName, scopes] of [
    ["Fréttastofa, sjálfvirk upptaka", ["transcripts.write"]],
    ["Beinar útsendingar", ["speech"]],
    ["Skjalasafn", ["transcripts.read"]],
  ] as const) {
    await call("POST", "/v1/apiKeys", { displayName, scopes });
  }
  const anna = { email: "anna@frettastofan.example", role: "OWNER", displayName: "Anna" };
  await call("POST", "/v1/members", anna);
  await call("POST", "/v1alpha1/transcriptjob:submit", {
    metadata: {
      fileType: "AUDIO",
      languageCode: "is-IS",
      subject: "Fundur fjárlaganefndar",
      keywords: ["fjárlög"],
    },
    useUri: true,
    uri: `${service.address}/console/assets/fundur.mp3`,
  });
  return { name: made, webhook: webhook.name };
}
