// The stream that all tabs of a browser share while something goes wrong: a frozen or suspended
// tab, a broken stream, changes between two streams, and more transcripts than one stream watches.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { transcriptLock } from "../../src/console/api/transcript-locks.ts";
import { scriptedOrders } from "../../src/engines/scripted/scripted-engine.ts";
import { transcriptsMax } from "../../src/jobs/watch-account.ts";
import { watchesMax } from "../../src/watches/node-watches.ts";
import { joined } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { submit } from "../spec/jobs.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { expectProblems } from "./expected-problems.ts";
import { cookieOfKey } from "./kept-contexts.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { openPlainTabs, type PlainTab } from "./plain-tabs.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";
import { openStreamProxy } from "./stream-proxy.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
/** Jobs that run until they are cancelled. */
let jobs: string[];
/** The segments of the transcripts. */
const { segments } = interview();
const second = 16_000;

before(async () => {
  const hanging = joined(
    new Int16Array(2 * second).fill(1),
    new Int16Array(second),
    new Int16Array(2 * second).fill(scriptedOrders.hangOnThread),
  );
  const host = parts.use(await openMediaHost({ "/langur.wav": wavOf(hanging) }));
  pages = parts.use(await openTestPages());
  for (let at = 1; at <= 5; at++) {
    await submit(pages.service, `${host.address}/langur.wav`, { subject: `Langur fundur ${at}` });
  }
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  jobs = json.jobs.map(({ name }: { readonly name: string }) => name);
});
after(() => parts.disposeAsync());

async function newTranscript(): Promise<string> {
  return await createTranscript(pages.service, { metadata: interviewMetadata, segments });
}

/** Reports that a user reads a transcript at 1:15. */
async function read(name: string): Promise<void> {
  const presence = { session: "desk", position: "75s" };
  const path = `/v1alpha1/${name}:reportPresence`;
  assert.equal((await pages.service.call("POST", path, presence)).status, 200);
}

async function leave(name: string): Promise<void> {
  const body = { session: "desk", leave: true };
  await pages.service.call("POST", `/v1alpha1/${name}:reportPresence`, body);
}

/** Cancels a job that has not been cancelled yet. */
async function cancelOne(): Promise<string> {
  const name = jobs.pop();
  assert.ok(name !== undefined);
  await pages.service.call("POST", `/v1alpha1/${name}:cancel`, {});
  return name;
}

const readers = (page: Page) =>
  page.getByRole("list", { name: "Aðrir með þennan texta opinn" }).getByText("les textann · 1:15");
const cancelled = (page: Page) => page.getByText("Hætt við", { exact: true });

/** Opens another tab next to one, at the same address. */
async function openNextTo(first: Page, path: string): Promise<Page> {
  const page = await first.context().newPage();
  await page.goto(`${new URL(first.url()).origin}/console/${path}`);
  return page;
}

/** An expression for the id that the browser has given the tab that leads. */
const leadId = `navigator.locks.query().then(({ held }) =>
  held.find(({ name }) => name.startsWith("hlust.account "))?.clientId)`;

/** An expression for the id of the tab itself. */
const ownId = `navigator.locks.request("own" + Math.random(), async ({ name }) =>
  (await navigator.locks.query()).held.find((each) => each.name === name).clientId)`;

/**
 * A script that counts how often the tab asks whether another one has the stream, and how often it
 * takes the stream from one that does not answer.
 */
const countSteals = `{
  window.questions = 0;
  const { postMessage } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.postMessage = function (message) {
    if (message.kind === "hello") questions += 1;
    return postMessage.call(this, message);
  };
  window.steals = 0;
  const { locks } = navigator;
  const request = locks.request.bind(locks);
  locks.request = (name, ...rest) => {
    if (rest[0].steal) steals += 1;
    return request(name, ...rest);
  };
}`;

test("a tab that is frozen while it has the stream lets a visible one have it", async () => {
  await using page = await pages.open("/");
  const browser = page.context().browser();
  assert.ok(browser);
  const { address, key } = pages.service;
  await using tabs = await openPlainTabs(
    browser,
    await cookieOfKey(address, key, browser.version()),
  );
  const name = await newTranscript();
  const leads = async (tab: PlainTab): Promise<boolean> =>
    (await tab.evaluate(leadId)) === (await tab.evaluate(ownId));
  const shows = async (tab: PlainTab): Promise<boolean> =>
    (await tab.evaluate("document.querySelector('main').innerText.includes('1:15')")) === true;
  const url = `${address}/console/${name}`;
  const first = await tabs.open(url);
  await until(() => leads(first));
  const other = await tabs.open(url);
  await read(name);
  for (const tab of [first, other]) await until(() => shows(tab));
  await other.evaluate(countSteals);
  await first.setFrozen(true);
  await until(() => leads(other));
  assert.equal(await other.evaluate("steals"), 0);
  await leave(name);
  await until(async () => !(await shows(other)));
  // Once it goes on, it gets what arrives from the other one.
  await first.setFrozen(false);
  await read(name);
  for (const tab of [other, first]) await until(() => shows(tab));
  assert.ok(await leads(other));
});

test("a visible tab takes the stream from one that is suspended without a word", async () => {
  const name = await newTranscript();
  await using first = await pages.open(`/${name}`);
  await until(async () => (await first.evaluate(leadId)) === (await first.evaluate(ownId)));
  await using other = await openNextTo(first, name);
  await read(name);
  for (const page of [first, other]) await readers(page).waitFor();
  await first.evaluate(countSteals);
  const devtools = await first.context().newCDPSession(first);
  await devtools.send("Debugger.enable");
  const paused = new Promise((resolve) => devtools.once("Debugger.paused", resolve));
  await devtools.send("Debugger.pause");
  await paused;
  await leave(name);
  await readers(other).waitFor({ state: "detached" });
  await devtools.send("Debugger.resume");
  await devtools.send("Debugger.disable");
  await readers(first).waitFor({ state: "detached" });
  // The first one has not asked while it had the stream, so it must ask before it takes it back.
  await until(async () => (await first.evaluate<number>("questions")) > 0);
  assert.equal(await first.evaluate("steals"), 0);
  await read(name);
  for (const page of [first, other]) await readers(page).waitFor();
  assert.equal(await other.evaluate(leadId), await other.evaluate(ownId));
});

test("when the stream of a tab is broken, it says so, and the others poll", async () => {
  await using proxy = await openStreamProxy(pages.service.address);
  await using first = await pages.open("/jobs", { address: proxy.address });
  await using other = await openNextTo(first, "jobs");
  for (const page of [first, other]) await untilLive(page);
  expectProblems(first, /:watch\?/);
  await first.route(/:watch\?/, (route) => route.fulfill({ status: 429, json: {} }));
  const before = await cancelled(other).count();
  proxy.breakStreams();
  await cancelOne();
  for (const page of [first, other]) {
    await until(async () => (await cancelled(page).count()) === before + 1);
  }
});

/** A script that lets the browser refuse the first question for the locks of all tabs. */
const refuseLocks = `{
  window.questions = 0;
  const { locks } = navigator;
  const query = locks.query.bind(locks);
  locks.query = async () => {
    questions += 1;
    if (questions === 1) throw new DOMException("not shown", "InvalidStateError");
    return await query();
  };
}`;

test("a tab to which the browser refuses the locks opens its stream later", async () => {
  await using page = await pages.open("/nowhere");
  // The clock belongs to the context, which is not used again.
  await using _context = page.context();
  await page.addInitScript(refuseLocks);
  await page.clock.install();
  await page.goto(`${pages.service.address}/console/jobs`);
  await until(async () => (await page.evaluate("questions")) === 1);
  const stream = page.waitForRequest(/:watch\?/);
  await page.clock.fastForward(15_000);
  await stream;
  assert.equal(await page.evaluate("questions"), 2);
});

/** Waits until a page shows the jobs, and a tab has the stream. */
async function untilLive(page: Page): Promise<void> {
  await page.getByRole("list", { name: "Verk" }).getByRole("listitem").nth(4).waitFor();
  await until(async () => (await page.evaluate(leadId)) !== undefined);
}

test("what changes between two streams is shown, because lists load again", async () => {
  await using proxy = await openStreamProxy(pages.service.address);
  await using page = await pages.open("/jobs", { address: proxy.address });
  await untilLive(page);
  const before = await cancelled(page).count();
  await cancelOne();
  await until(async () => (await cancelled(page).count()) === before + 1);
  // The old stream has not sent the change when the new one takes its place, which begins after it.
  proxy.hold();
  const name = await cancelOne();
  await until(async () => proxy.held().includes(name));
  assert.equal(await cancelled(page).count(), before + 1);
  const transcript = await newTranscript();
  await using other = await openNextTo(page, transcript);
  await read(transcript);
  await readers(other).waitFor();
  await until(async () => (await cancelled(page).count()) === before + 2);
});

/** Opens this many watches of the account, until the signal aborts. */
async function fillWatches(count: number, signal: AbortSignal): Promise<void> {
  const { address, key } = pages.service;
  const headers = { authorization: `Bearer ${key}` };
  const names = await Promise.all(Array.from({ length: transcriptsMax }, newTranscript));
  for (let left = count; left > 0; left -= transcriptsMax + 1) {
    const query = names.slice(0, left - 1).map((name) => `transcripts=${name}`);
    const url = `${address}/v1alpha1/transcriptjob:watch?updatesOnly=true&${query.join("&")}`;
    const { body } = await fetch(url, { headers, signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let seen = 0; seen < query.length;) {
      const { value = "" } = (await reader?.read()) ?? {};
      seen += value.split('"transcripts":').length - 1;
    }
  }
}

test("a transcript for which the account has no place ends no stream, and is followed later", async () => {
  const [one, late] = [await newTranscript(), await newTranscript()];
  await using first = await pages.open(`/${one}`);
  await read(one);
  await readers(first).waitFor();
  const streams: string[] = [];
  first.context().on("request", (request) => {
    if (request.url().includes(":watch")) streams.push(request.url());
  });
  // The stream has two watches. The one that takes its place begins before it ends, so that there
  // is a place for the jobs, but not for the transcripts.
  const left = new AbortController();
  await fillWatches(watchesMax.account - 3, left.signal);
  await using other = await openNextTo(first, late);
  await read(late);
  await readers(other).waitFor();
  await leave(one);
  await readers(first).waitFor({ state: "detached" });
  assert.equal(streams.length, 1, streams.join("\n"));
  left.abort();
});

test("with 21 transcripts open, those that were shown last say who has them open", async () => {
  const [oldest, newest] = [await newTranscript(), await newTranscript()];
  await using first = await pages.open(`/${oldest}`);
  await read(oldest);
  await readers(first).waitFor();
  // 19 more: a tab for each would take half a minute of CPU time.
  const lead = await first.evaluate<string>(`navigator.locks.query().then(({ held }) =>
    held.find(({ name }) => name.startsWith("hlust.account ")).name)`);
  const owner = lead.slice("hlust.account ".length);
  const locks = Array.from({ length: transcriptsMax - 1 }, (_, at) =>
    transcriptLock(owner, `transcripts/${at}`, Date.now()),
  );
  await first.evaluate(`${JSON.stringify(locks)}.forEach((name) =>
    navigator.locks.request(name, { mode: "shared" }, () => new Promise(() => {})))`);
  await using other = await openNextTo(first, newest);
  // It would show readers who have left long ago.
  await readers(first).waitFor({ state: "detached" });
  await read(newest);
  await readers(other).waitFor();
  // The tab that the user goes back to is among them, and the one before it still is.
  await first.evaluate("window.dispatchEvent(new Event('focus'))");
  await readers(first).waitFor();
  await leave(newest);
  await readers(other).waitFor({ state: "detached" });
});
