// The transcript page in special states: without a recording, with an earlier version, with a
// video, and with a missing transcript.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toneWav } from "../fixtures/jobs-fixture.ts";
import { pollJob } from "../spec/jobs.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
let name: string;
before(async () => {
  pages = await openTestPages();
  name = await createTranscript(pages.service, {
    metadata: interviewMetadata,
    segments: talk.segments,
  });
});
after(() => pages[Symbol.asyncDispose]());

test("a transcript without a recording has no player", async () => {
  await using page = await pages.open(`/${name}`);
  await page.getByText("Núpsstað").waitFor();
  assert.equal(await page.locator(".player, a.segment-time").count(), 0);
  await page.getByText("Núpsstað").click();
  await page.keyboard.press("k");
  assert.equal(await page.locator(".words-text[data-listening]").count(), 0);
  await checkLooks(page, "transcript-silent", someLooks);
});

test("an earlier version is marked as such, and links to the latest", async () => {
  const { service } = pages;
  const before = (await service.call("GET", `/v1alpha1/${name}`)).json.version.name;
  const segments = talk.segments.map(({ words, ...segment }) => ({
    ...segment,
    words: words.map(({ word, ...times }) => ({ ...times, word: word.replace("brúna", "brúnna") })),
  }));
  const { status } = await service.call("PATCH", `/v1alpha1/${name}`, { segments });
  assert.equal(status, 200);
  await using page = await pages.open(`/${name}?version=${before}`);
  expectProblems(page, /^404 GET .*\/versions\//);
  await page.getByText("Þú ert að lesa útgáfu frá").waitFor();
  await page.getByText("við brúna").waitFor();
  await checkLooks(page, "transcript-version", someLooks);
  await page
    .getByRole("link", { name: /^(Lesa nýjustu útgáfuna|Read the latest version)$/ })
    .click();
  await page.getByText("við brúnna").waitFor();
  assert.equal(await page.locator(".reading-version").count(), 0);

  await page.goto(
    `${service.address}/console/${name}?version=0198c5a2-8d10-7c3e-b1f4-5a6b7c8d9e0f`,
  );
  await page
    .getByRole("heading", { name: /^(Þessi útgáfa er ekki til|This version does not exist)/ })
    .waitFor();
});

test("a missing transcript is reported, and the address of a job leads to its transcript", async () => {
  await using page = await pages.open("/transcripts/0198c5a2-8d10-7c3e-b1f4-5a6b7c8d9e0f");
  expectProblems(page, /^404 GET .*\/transcript(s|job)\//);
  await page.getByRole("heading", { name: "Hér er engin uppskrift" }).waitFor();
  await checkLooks(page, "transcript-missing", someLooks);

  const { service } = pages;
  const last = await transcribed("Úr verki");
  await page.goto(
    `${service.address}/console${last.name.replace("transcriptjob", "/transcripts")}`,
  );
  await page.getByRole("heading", { level: 1, name: "Úr verki" }).waitFor();
  assert.equal(page.url(), `${service.address}/console/${last.transcript}`);
});

/** Transcribes a recording, and returns its job. */
async function transcribed(subject: string) {
  const { service } = pages;
  const { resourceName: uri, storageSignedUrl } = (
    await service.call("POST", "/v1alpha1/initupload", {})
  ).json;
  await fetch(storageSignedUrl, { method: "PUT", body: Uint8Array.from(toneWav([3])) });
  const metadata = { languageCode: "en-US", fileType: "AUDIO", subject };
  const request = { metadata, useUri: false, uri };
  const submitted = await service.call("POST", "/v1alpha1/transcriptjob:submit", request);
  const { last } = await pollJob(service, submitted.json.name);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  return last;
}

test("the row of a job has the present title of its transcript, and says that it was deleted", async () => {
  const { service } = pages;
  const renamed = (await transcribed("Fyrri fundur")).transcript;
  const deleted = (await transcribed("Seinni fundur")).transcript;
  await using page = await pages.open("/jobs");
  const row = (subject: string) =>
    page.getByRole("list", { name: "Verk" }).getByRole("listitem").filter({ hasText: subject });
  await row("Seinni fundur").getByRole("link", { name: "Seinni fundur" }).waitFor();
  const metadata = { subject: "Fundur um hafnir" };
  await service.call("PATCH", `/v1alpha1/${renamed}`, { metadata });
  await service.call("DELETE", `/v1alpha1/${deleted}`);
  await page.reload();
  const link = row("Fundur um hafnir").getByRole("link", { name: "Fundur um hafnir" });
  assert.equal(await link.getAttribute("href"), `/console/${renamed}`);
  assert.equal(await row("Fyrri fundur").count(), 0);
  // The job forgets the title of what was deleted.
  const gone = row("Uppskriftinni var eytt");
  await gone.getByText("Án titils").waitFor();
  assert.equal(await gone.getByRole("link").count(), 0);
  assert.equal(await gone.getByText("Uppskrift tilbúin").count(), 0);
  await gone.getByRole("button", { name: "Fjarlægja: Án titils" }).waitFor();
  await checkLooks(page, "jobs-deleted", someLooks);
});

test("an address with path traversal sends no request to other methods", async () => {
  await using page = await pages.open("/nowhere");
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  const id = "0198c5a2-8d10-7c3e-b1f4-5a6b7c8d9e0f";
  const up = encodeURIComponent("../../../v1/account#");
  const addresses = [
    String.raw`transcripts/..%5C..%5Cv1%5Caccount`,
    `transcripts/${id}?version=../${up}`,
    `${name}?changed=../${up}`,
  ];
  for (const address of addresses) {
    await page.goto(`${pages.service.address}/console/${address}`);
    const shown = page.getByRole("heading", {
      name: /^(Hér er engin uppskrift|Þessi útgáfa|Hvað)/,
    });
    await shown.or(page.getByRole("alert")).first().waitFor();
  }
  assert.deepEqual(
    requested.filter((path) => path.startsWith("/console/api/v1/")),
    [],
  );
});

test("a response that does not come from the service is reported as a lost connection, and can be retried", async () => {
  await using page = await pages.open("/nowhere");
  // A captive portal responds to every request.
  await page.route(`**/${name}`, (route) =>
    route.fulfill({ status: 200, contentType: "text/html", body: "<html>Welcome to our Wi-Fi" }),
  );
  await page.evaluate(`history.pushState(null, "", "/console/${name}")`);
  await page.getByText("Ekki næst í þjónustuna.").waitFor();
  await page.unroute(`**/${name}`);
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await page.getByText("Núpsstað").waitFor();
});

test("names and words that contain scripts are shown as text", async () => {
  const hostile = `<img src=x onerror="alert(1)"> <script>alert(2)</script>`;
  const hostileName = await createTranscript(pages.service, {
    metadata: {
      ...interviewMetadata,
      subject: hostile,
      keywords: [hostile, "javascript:alert(3)"],
      speakers: { [hostile]: { fullName: hostile }, __proto__: { fullName: "x" } },
    },
    segments: [
      {
        speakerId: hostile,
        startTime: "0s",
        endTime: "1s",
        words: [{ startTime: "0s", endTime: "1s", word: hostile }],
      },
      {
        speakerId: "constructor",
        startTime: "1s",
        endTime: "2s",
        words: [{ startTime: "1s", endTime: "2s", word: "{{7*7}}" }],
      },
    ],
  });
  await using page = await pages.open(`/${hostileName}`);
  await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
  assert.equal(await page.locator(".segment p").first().textContent(), hostile);
  assert.equal(await page.locator(".segment-speaker").first().textContent(), hostile);
  assert.equal(await page.locator(".segment-speaker").last().textContent(), "Mælandi constructor");
  assert.equal(await page.locator(".reading img, .reading script").count(), 0);
});
