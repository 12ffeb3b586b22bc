// Lists and streams of alignment jobs, and their limit.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls, slow, speech } from "./alignment.ts";
import { fieldsOf, refusedWatch } from "./jobs.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";

let service: TestService;
let calls: AlignmentCalls;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
  calls = new AlignmentCalls(service);
});
after(() => service[Symbol.asyncDispose]());

describe("alignment jobs are listed", () => {
  const list = async (query: Record<string, string>): Promise<Answer> =>
    await service.call("GET", `/v1alpha1/alignmentjobs?${new URLSearchParams(query).toString()}`);
  const namesOf = ({ json }: Answer): string[] =>
    json.jobs.map(({ name }: { name: string }) => name);

  test("newest first, in pages, and by transcript and state", async () => {
    const name = await calls.create(speech);
    const jobs: string[] = [];
    for (let count = 0; count < 3; count++) {
      const job = await calls.begin(name);
      await calls.ended(job);
      jobs.unshift(job);
    }
    const filter = `transcript = "${name}" AND state = "SUCCESS"`;
    assert.deepEqual(namesOf(await list({ filter })), jobs);
    assert.deepEqual(
      namesOf(await list({ filter: `transcript = "${name}" AND state="ERROR"` })),
      [],
    );
    const first = await list({ filter, pageSize: "2" });
    assert.deepEqual(namesOf(first), jobs.slice(0, 2));
    const pageToken = first.json.nextPageToken;
    const second = await list({ filter, pageSize: "2", pageToken });
    assert.deepEqual([namesOf(second), second.json.nextPageToken], [jobs.slice(2), ""]);
    const { alignedVersion } = await calls.get(jobs[1] ?? "");
    const ofVersion = await list({ filter: `transcript = "${name}/versions/${alignedVersion}"` });
    assert.deepEqual(namesOf(ofVersion), [jobs[1]]);
    assert.deepEqual(namesOf(await list({ pageSize: "1" })), [jobs[0]]);
  });

  const wrong: readonly [query: Record<string, string>, field: string, problem: RegExp][] = [
    [
      { filter: "x" },
      "filter",
      /expected state = "<state>" or transcript .* at column 1, found "x"/,
    ],
    [{ filter: 'state = "DONE"' }, "filter", /"DONE", which must be one of QUEUED, TRANSCODING/],
    [{ filter: "state = SUCCESS" }, "filter", /at column 1/],
    [{ filter: 'state = "ERROR" AND' }, "filter", /at column 20, found the end/],
    [{ filter: 'state = "ERROR" OR state = "SUCCESS"' }, "filter", /at column 1/],
    [{ filter: 'state = "ERROR" AND state = "ERROR"' }, "filter", /two conditions on state/],
    [{ filter: 'transcript = "transcripts/1"' }, "filter", /must be transcripts\/<id>/],
    [{ filter: `state = "${"x".repeat(5000)}"` }, "filter", /has 5010 characters; at most 4096/],
    [{ pageSize: "-1" }, "pageSize", /must be 0 or more, not -1/],
    [{ pageToken: "x" }, "pageToken", /is not a nextPageToken of this list/],
  ];
  for (const [query, field, problem] of wrong) {
    test(`but not with ${JSON.stringify(query).slice(0, 60)}`, async () => {
      const answer = await list(query);
      assert.equal(answer.status, 400);
      assert.deepEqual(fieldsOf(answer), [field]);
      assert.match(answer.json.message, problem);
    });
  }
});

/** A stream of WatchAlignmentJobs over REST. */
class Watch implements AsyncDisposable {
  readonly messages: { update: boolean; jobs: Answer["json"][] }[] = [];
  readonly #ending = new AbortController();
  readonly #reading: Promise<void>;

  constructor(query: Record<string, string> = {}) {
    this.#reading = this.#read(query).catch(() => {});
  }

  async #read(query: Record<string, string>): Promise<void> {
    const url = `${service.address}/v1alpha1/alignmentjobs:watch?${new URLSearchParams(query).toString()}`;
    const headers = { authorization: `Bearer ${service.key}` };
    const { body } = await fetch(url, { headers, signal: this.#ending.signal });
    let text = "";
    for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      this.messages.push(...lines.map((line) => JSON.parse(line).result));
    }
  }

  /** Returns the states of a job, in the order in which they were sent. */
  statesOf(name: string): string[] {
    const jobs = this.messages.flatMap((message) => message.jobs);
    return jobs.filter((job) => job.name === name).map(({ state }) => state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#reading;
  }
}

describe("alignment jobs are watched", () => {
  test("first all that match, and then each change", async () => {
    const name = await calls.create(slow);
    const earlier = await calls.begin(name);
    await calls.cancel(earlier);
    await using all = new Watch({ filter: `transcript = "${name}"` });
    await using updates = new Watch({ updateOnly: "true" });
    await until(async () => Promise.resolve(all.messages.length > 0));
    assert.deepEqual(
      all.messages.map(({ update, jobs }) => [update, jobs.map((job) => job.name)]),
      [[false, [earlier]]],
    );
    const later = await calls.begin(name);
    await until(async () => Promise.resolve(all.statesOf(later).includes("ALIGNING")));
    const other = await calls.begin(await calls.create(speech));
    await calls.ended(later);
    await calls.ended(other);
    await until(async () => Promise.resolve(all.statesOf(later).includes("SUCCESS")));
    await until(async () => Promise.resolve(updates.statesOf(other).includes("SUCCESS")));
    await until(async () => Promise.resolve(updates.statesOf(later).includes("SUCCESS")));
    const order = ["QUEUED", "TRANSCODING", "ALIGNING", "SUCCESS"];
    for (const states of [all.statesOf(later), updates.statesOf(later)]) {
      assert.deepEqual(
        states,
        states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
      );
    }
    assert.deepEqual(all.statesOf(other), []);
    assert.deepEqual(updates.statesOf(earlier), []);
    assert.ok(all.messages.slice(1).every(({ update }) => update));
    assert.deepEqual(await calls.get(later), all.messages.at(-1)?.jobs[0]);
  });

  test("but not with a wrong filter, or an updateOnly of another type", async () => {
    for (const [query, field] of [
      ["filter=x", "filter"],
      ["updateOnly=yes", "updateOnly"],
      ["updateOnly=1", "updateOnly"],
      ["updateOnly=TRUE", "updateOnly"],
      ["updateOnly=", "updateOnly"],
      ["updateOnly=true&updateOnly=true", "updateOnly"],
      ["updatesOnly=true", "updatesOnly"],
    ] as const) {
      const answer = await refusedWatch(service, `/v1alpha1/alignmentjobs:watch?${query}`);
      assert.equal(answer.status, 400, query);
      assert.deepEqual(fieldsOf(answer), [field]);
    }
  });

  test("by at most 100 streams of an account", async () => {
    await using open = new AsyncDisposableStack();
    const streams = Array.from({ length: 100 }, () => open.use(new Watch()));
    await until(async () => Promise.resolve(streams.every(({ messages }) => messages.length > 0)));
    const { status, json } = await service.call("GET", "/v1alpha1/alignmentjobs:watch");
    assert.deepEqual([status, json.details[0].reason], [429, "WATCHES_FULL"]);
  });
});

test("unfinished alignment jobs count towards the limit of queued jobs", async () => {
  await using limited = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_LOG: "silent",
    HLUST_ACCOUNT_JOBS_MAX: "1",
  });
  const calls = new AlignmentCalls(limited);
  const [first, second] = [await calls.create(slow), await calls.create(speech)];
  const job = await calls.begin(first);
  const refused = await calls.submit(second);
  assert.deepEqual([refused.status, refused.json.details[0].reason], [429, "TOO_MANY_JOBS"]);
  const metadata = { languageCode: "is-IS", fileType: "AUDIO" };
  const other = { metadata, useUri: true, uri: `${limited.address}/none.wav` };
  const { status } = await limited.call("POST", "/v1alpha1/transcriptjob:submit", other);
  assert.equal(status, 429);
  assert.equal((await calls.get(job)).error, undefined);
  // Submitting the same version again adds no job.
  assert.equal(await calls.begin(first), job);
  assert.equal((await limited.call("GET", "/v1/account")).json.usage.queuedJobs, 1);
  await calls.ended(job);
  await calls.ended(await calls.begin(second));
  const days = (await limited.call("GET", "/v1/usageDays")).json.usageDays;
  for (const day of days) assert.equal(day.audioSeconds ?? 0, 0);
});
