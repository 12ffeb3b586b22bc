// Many tabs of one browser over HTTP/1.1: their streams leave connections for calls.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page, Request } from "playwright-core";
import { scriptedOrders } from "../../src/engines/scripted/scripted-engine.ts";
import { joined } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { submit } from "../spec/jobs.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { until } from "../fixtures/until.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let names: readonly string[];
const second = 16_000;

before(async () => {
  // The engine recognizes the first 2 s and hangs in the last 2 s.
  const hanging = joined(
    new Int16Array(2 * second).fill(1),
    new Int16Array(second),
    new Int16Array(2 * second).fill(scriptedOrders.hangOnThread),
  );
  const host = parts.use(await openMediaHost({ "/langur.wav": wavOf(hanging) }));
  pages = parts.use(await openTestPages());
  for (let at = 1; at <= 8; at++) {
    await submit(pages.service, `${host.address}/langur.wav`, { subject: `Langur fundur ${at}` });
  }
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  names = json.jobs.map(({ name }: { readonly name: string }) => name);
});
after(() => parts.disposeAsync());

/** Returns the status of a call from the page, or why there was none within 20 s. */
async function callFrom(page: Page): Promise<unknown> {
  return await page.evaluate(`fetch("/console/api/v1/account", { signal: AbortSignal.timeout(20_000) })
    .then(({ status }) => status, String)`);
}

/** Counts the requests for streams of a page, from now on. */
function countStreams(page: Page): { count: number } {
  const streams = { count: 0 };
  page.on("request", (request) => {
    if (request.url().includes(":watch")) streams.count += 1;
  });
  return streams;
}

test("two windows with eight running jobs each share one stream, and both see each change", async () => {
  await using first = await pages.open("/jobs");
  await using second = await first.context().newPage();
  const streams = countStreams(second);
  await second.goto(`${pages.service.address}/console/jobs`);
  for (const page of [first, second]) {
    await page.getByRole("list", { name: "Verk" }).getByRole("listitem").nth(7).waitFor();
    assert.equal(await callFrom(page), 200);
  }
  assert.equal(streams.count, 0);
  // Updates come only from the stream, because the lists do not get another response.
  for (const page of [first, second]) {
    await page.route(/v1alpha1.transcriptjob$/, () => Promise.withResolvers<void>().promise);
  }
  const ended = (page: Page) => page.getByText("Hætt við", { exact: true });
  const before = await ended(second).count();
  await pages.service.call("POST", `/v1alpha1/${names[0]}:cancel`, {});
  for (const page of [first, second]) {
    await until(async () => (await ended(page).count()) === before + 1);
  }
  // Another window takes the stream over.
  await first.unrouteAll({ behavior: "ignoreErrors" });
  await first.close();
  await until(async () => streams.count === 1);
  await second.unrouteAll({ behavior: "ignoreErrors" });
  await pages.service.call("POST", `/v1alpha1/${names[1]}:cancel`, {});
  await until(async () => (await ended(second).count()) === before + 2);
});

test("a job that is taken off the list comes back, and is removed only when that is over", async () => {
  await using page = await pages.open("/jobs");
  const stored = async () =>
    (await pages.service.call("GET", "/v1alpha1/transcriptjob")).json.jobs.length;
  const before = await stored();
  const buttons = page.getByRole("button", { name: "Fjarlægja: Langur fundur" });
  await buttons.nth(1).waitFor();
  const ended = await buttons.count();
  await buttons.first().press("Enter");
  const note = page.locator(".note", { hasText: "Verkið var fjarlægt: Langur fundur" });
  await note.waitFor();
  await until(async () => (await buttons.count()) === ended - 1);
  // The focus is on the button that undoes it, and nothing is removed while it can be undone.
  await page.locator("button:focus", { hasText: "Taka aftur" }).press("Enter");
  await until(async () => (await buttons.count()) === ended);
  assert.equal(await stored(), before);
  await buttons.first().press("Enter");
  await note.waitFor();
  // Two are taken off together.
  await buttons.first().press("Enter");
  const both = page.getByText("Tekið af listanum: 2 verk").and(page.locator("span"));
  await both.waitFor();
  await page.locator(".note").getByRole("button", { name: "Loka" }).click();
  await until(async () => (await stored()) === before - 2);
});

test("with eight transcripts and two lists of jobs open, every tab can call the service", async () => {
  const { segments } = interview();
  const transcripts: string[] = [];
  for (let at = 0; at < 8; at++) {
    const spoken = { metadata: interviewMetadata, segments };
    transcripts.push(await createTranscript(pages.service, spoken));
  }
  await using first = await pages.open("/jobs");
  const streams = new Set<Request>();
  first.context().on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith(":watch")) streams.add(request);
  });
  first.context().on("requestfinished", (request) => streams.delete(request));
  first.context().on("requestfailed", (request) => streams.delete(request));
  // The stream of this page was opened before it could be counted.
  await first.reload();
  const open: Page[] = [first];
  for (const path of ["jobs", ...transcripts]) {
    const page = await first.context().newPage();
    open.push(page);
    await page.goto(`${pages.service.address}/console/${path}`);
    await page
      .locator(path === "jobs" ? ".job-row" : ".segment")
      .first()
      .waitFor();
  }
  for (const page of open) assert.equal(await callFrom(page), 200);
  // However many tabs are open, there is one stream. That leaves five of the browser's six
  // connections for calls.
  await until(async () => streams.size === 1);
  // Each tab of a transcript learns who has it open.
  const presence = { session: "desk", position: "75s" };
  for (const [at, name] of transcripts.entries()) {
    await pages.service.call("POST", `/v1alpha1/${name}:reportPresence`, presence);
    const people = open[at + 2]?.getByRole("list", { name: "Aðrir með þennan texta opinn" });
    await people?.getByText("les textann · 1:15").waitFor();
  }
  assert.equal(streams.size, 1);
  for (const page of open.slice(1)) await page.close();
});
