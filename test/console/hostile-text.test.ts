// Scripts that are stored in every text field and shown on every page. They appear as text, and
// none runs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { expectProblems } from "./expected-problems.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { alarm, scriptPayloads } from "./script-payloads.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
  await storeEverywhere();
});
after(() => pages[Symbol.asyncDispose]());

/** The id of a transcript with all payloads in its text and metadata. */
let id: string;

async function make(path: string, body: object): Promise<{ readonly name: string }> {
  const { status, json } = await pages.service.call("POST", path, body);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

/** Cuts a payload to the limit for keywords. */
const keywordOf = (payload: string) => payload.slice(0, 100);

async function storeEverywhere(): Promise<void> {
  assert.ok(scriptPayloads.length >= 80);
  for (const payload of scriptPayloads) {
    await make("/v1alpha1/transcripts", {
      metadata: {
        fileType: "AUDIO",
        languageCode: "is-IS",
        subject: payload,
        keywords: [keywordOf(payload)],
      },
      segments: [],
    });
  }
  const segments = scriptPayloads.map((payload, at) => ({
    startTime: `${at}s`,
    endTime: `${at + 1}s`,
    speakerId: `${at % 40}`,
    words: [{ startTime: `${at}s`, endTime: `${at + 1}s`, word: `${payload} ` }],
  }));
  const speakers = scriptPayloads
    .slice(0, 40)
    .map((payload, at) => [`${at}`, { fullName: payload }]);
  const metadata = {
    fileType: "AUDIO",
    languageCode: "is-IS",
    subject: scriptPayloads.slice(0, 5).join(" "),
    description: scriptPayloads.join("\n"),
    keywords: scriptPayloads.slice(0, 4).map(keywordOf),
    additionalMetadata: Object.fromEntries(
      scriptPayloads.map((payload, at) => [`k${at}`, payload]),
    ),
    speakers: Object.fromEntries(speakers),
  };
  const { name } = await make("/v1alpha1/transcripts", { metadata, segments });
  id = name.replace("transcripts/", "");
  // This creates another version, so that the two can be compared.
  const changed = { segments: segments.toReversed().slice(0, 3).toReversed() };
  const { status } = await pages.service.call("PATCH", `/v1alpha1/${name}`, changed);
  assert.equal(status, 200);
  for (const payload of scriptPayloads.slice(0, 12)) {
    // The name differs from the payloads in other fields, so that each page's own text can be
    // found.
    const displayName = keywordOf(payload.replace("document.domain", "document.URL"));
    await make("/v1/apiKeys", { displayName, scopes: ["speech"] });
  }
  for (const payload of scriptPayloads.slice(13, 25)) {
    await make("/v1alpha1/transcriptjob:submit", {
      metadata: { fileType: "AUDIO", languageCode: "is-IS", subject: payload },
      useUri: true,
      uri: `http://127.0.0.1:9/${encodeURIComponent(payload)}`,
    });
  }
  const account = { displayName: scriptPayloads[13]?.replace("document.domain", "document.URL") };
  assert.equal((await pages.service.call("PATCH", "/v1/account", account)).status, 200);
}

/** Opens a page that reports whether any payload runs. */
async function open(
  path: string,
): Promise<AsyncDisposable & { readonly page: Page; readonly ran: string[] }> {
  const page = await pages.open("/nowhere");
  const ran: string[] = [];
  await page.exposeFunction(alarm, (where: string) => ran.push(where));
  await page.goto(`${pages.service.address}/console${path}`);
  return { page, ran, [Symbol.asyncDispose]: () => page.close() };
}

/** Checks that no element comes from a payload. The console itself has none of these elements. */
async function assertOnlyText(page: Page, ran: readonly string[]): Promise<void> {
  const foreign = await page.evaluate<string[]>(
    `Array.from(document.querySelectorAll("body script, body iframe, body object, body embed, body base, body meta, body style, body math, marquee, x-x, [onerror], [onload], [onfocus], [href^='javascript' i], [href*='elsewhere.test'], [src*='elsewhere.test']"), (element) => element.outerHTML.slice(0, 200))`,
  );
  assert.deepEqual(foreign, []);
  assert.deepEqual(ran, []);
}

test("the check finds a script that runs and an element that is inserted", async () => {
  await using opened = await open("/nowhere");
  const { page, ran } = opened;
  await page.evaluate(`window.${alarm}("x")`);
  assert.deepEqual(ran, ["x"]);
  await page.evaluate(`document.body.append(document.createElement("iframe"))`);
  await assert.rejects(assertOnlyText(page, []));
});

for (const [name, path, seen] of [
  ["the overview", "/", "document.URL"],
  ["the list of transcripts", "/transcripts", scriptPayloads.at(-1)],
  ["a search for a script", `/transcripts?subject=${encodeURIComponent("<script>")}`, "<script>"],
  ["the jobs page", "/jobs", scriptPayloads[24]],
  ["the keys page", "/keys", scriptPayloads[3]?.replace("document.domain", "document.URL")],
] as const) {
  test(`stored scripts are shown as text on ${name}`, async () => {
    await using opened = await open(path);
    const { page, ran } = opened;
    await page
      .getByText(seen ?? "", { exact: false })
      .filter({ visible: true })
      .first()
      .waitFor();
    await assertOnlyText(page, ran);
  });
}

test("stored scripts are shown as text in a transcript, in its aside and in its changes", async () => {
  await using opened = await open(`/transcripts/${id}`);
  const { page, ran } = opened;
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "<script>" }).waitFor();
  await page
    .getByText(scriptPayloads.at(-1)?.slice(0, 30) ?? "")
    .first()
    .waitFor();
  await assertOnlyText(page, ran);
  // Running jobs come first, with their percent.
  assert.match(await page.title(), /^(?:\d+% · )?<script>/);
});

test("scripts in the address do not run", async () => {
  await using opened = await open("/nowhere");
  expectProblems(opened.page, /^404 GET .*\/transcript(s|job)\//);
  const { page, ran } = opened;
  for (const payload of scriptPayloads.filter((_, at) => at % 16 === 0)) {
    const encoded = encodeURIComponent(payload);
    for (const path of [`/${encoded}`, `/transcripts/${encoded}`, `/#problem=${encoded}`]) {
      await page.goto(`${pages.service.address}/console${path}`);
      await page.locator("h1").first().waitFor();
    }
    await assertOnlyText(page, ran);
  }
});

test("a title that turns the direction changes nothing in the sentence around it", async () => {
  const subject = "Fundur\u202Edef";
  const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject };
  const { name } = await make("/v1alpha1/transcripts", { metadata, segments: [] });
  await using page = await pages.open(`/${name}`);
  await page.getByRole("button", { name: "Eyða uppskriftinni" }).click();
  const title = page.getByRole("dialog").getByRole("heading");
  assert.equal(await title.textContent(), `Eyða „\u2068${subject}\u2069“?`);
  // What is behind the title is at its right.
  const lefts = await page.evaluate<number[]>(`(() => {
    const title = document.querySelector(".dialog-title");
    const text = document.createTreeWalker(title, NodeFilter.SHOW_TEXT).nextNode();
    return ["F", "d", "“", "?"].map((letter) => {
      const range = new Range();
      const at = text.data.indexOf(letter, 6);
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().left;
    });
  })()`);
  assert.deepEqual(
    lefts,
    lefts.toSorted((one, other) => one - other),
  );
});
