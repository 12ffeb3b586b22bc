// Alignment jobs: the words of a transcript are aligned to its sound again, and make a version.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../../src/std/ids.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { onceWithin, until } from "../fixtures/until.ts";
import { AlignmentCalls, slow, speech, text, unaligned } from "./alignment.ts";
import { fieldsOf, textOf } from "./jobs.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";
import { segmentOf } from "./transcripts.ts";

let service: TestService;
let calls: AlignmentCalls;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
  calls = new AlignmentCalls(service);
});
after(() => service[Symbol.asyncDispose]());

const seconds = (duration: string): number => Number.parseFloat(duration);

describe("an alignment job", () => {
  test("creates a version with the same text and speakers, and with times of the sound", async () => {
    const name = await calls.create(speech);
    const before = await calls.get(name);
    const { json: submitted } = await calls.submit(name);
    assert.match(submitted.name, /^alignmentjobs\/[0-9a-f-]{36}$/);
    assert.deepEqual(
      [submitted.state, submitted.progressPercent, submitted.transcript, submitted.alignedVersion],
      ["SUBMITTED", 0, name, before.version.name],
    );
    const job = await calls.ended(submitted.name);
    assert.deepEqual([job.state, job.progressPercent, job.error], ["SUCCESS", 100, undefined]);
    assert.equal(job.startTime, submitted.startTime);
    assert.ok(job.lastUpdatedTime > job.startTime);
    const after = await calls.get(name);
    assert.equal(after.version.name, job.transcriptVersion);
    assert.equal(after.version.parent, before.version.name);
    assert.deepEqual([after.version.kind, after.version.author], ["ALIGNED", ""]);
    assert.deepEqual(after.metadata.speakers, before.metadata.speakers);
    assert.equal(textOf(after), text);
    assert.deepEqual(wordsOf(after), wordsOf(before));
    const times = after.segments
      .flatMap(({ words }: { words: Times[] }) => words)
      .flatMap(({ startTime, endTime }: Times) => [seconds(startTime), seconds(endTime)]);
    assert.deepEqual(times, times.toSorted());
    assert.ok(times[0] >= 1.9 && times.at(-1) <= 5.1, times.join(" "));
    // The segment without words stays between the others.
    const [first, empty, last] = after.segments;
    const { startTime, endTime } = first;
    assert.deepEqual([startTime, endTime].map(seconds), [times[0], times[5]]);
    assert.deepEqual([empty.startTime, empty.endTime], [startTime, startTime]);
    assert.deepEqual([last.startTime, last.endTime].map(seconds), [times[6], times.at(-1)]);
    const versions = await calls.get(`${name}/versions`);
    assert.equal(versions.versions.length, 2);
  });

  test("is returned again while it has not ended, and its transcript finds the latest", async () => {
    const name = await calls.create(slow);
    const first = await calls.begin(name);
    const { version } = await calls.get(name);
    assert.equal(await calls.begin(`${name}/versions/${version.name}`), first);
    assert.equal(await calls.begin(`${name}/version/${version.name}`), first);
    await calls.cancel(first);
    const second = await calls.begin(name);
    assert.notEqual(second, first);
    for (const path of [name, `${name}/versions/${version.name}`]) {
      assert.equal((await calls.get(`${path}/alignmentjob`)).name, second);
    }
    await calls.cancel(second);
  });

  test("ends within two seconds when it is cancelled, and changes nothing", async () => {
    await onceWithin(2_000, async () => {
      const name = await calls.create(slow);
      const { version } = await calls.get(name);
      const job = await calls.begin(name);
      await calls.reaches(job, "ALIGNING");
      const next = await calls.begin(await calls.create(speech));
      const cancelledAt = performance.now();
      const { status, json } = await calls.cancel(job);
      assert.deepEqual([status, json.state, json.error.code], [200, "CANCELLED", 1]);
      // The next job gets the engine.
      await until(async () => (await calls.get(next)).state === "SUCCESS");
      const ms = performance.now() - cancelledAt;
      assert.equal((await calls.get(name)).version.name, version.name);
      const again = await calls.cancel(job);
      assert.deepEqual([again.status, again.json.details[0].reason], [400, "JOB_ENDED"]);
      return ms;
    });
  });

  test("ends as ERROR and appends nothing if the words change meanwhile", async () => {
    const name = await calls.create(slow);
    const job = await calls.begin(name);
    await calls.reaches(job, "ALIGNING");
    const change = { segments: [segmentOf("önnur orð")] };
    const changed = await service.call("PATCH", `/v1alpha1/${name}`, change);
    assert.equal(changed.status, 200);
    const { state, error, transcriptVersion } = await calls.ended(job);
    assert.deepEqual([state, error.code, transcriptVersion], ["ERROR", 10, undefined]);
    const { reason, metadata } = error.details[0];
    assert.equal(reason, "VERSION_STALE");
    assert.equal(metadata.currentVersion, changed.json.version.name);
    assert.equal((await calls.get(name)).version.name, changed.json.version.name);
  });

  test("ends as ERROR and appends nothing if other media is uploaded meanwhile", async () => {
    const name = await calls.create(slow);
    const { version } = await calls.get(name);
    const job = await calls.begin(name);
    await calls.reaches(job, "ALIGNING");
    await calls.upload(name, speech);
    const { state, error, transcriptVersion } = await calls.ended(job);
    assert.deepEqual([state, error.code, transcriptVersion], ["ERROR", 10, undefined]);
    assert.equal(error.details[0].reason, "VERSION_STALE");
    assert.equal((await calls.get(name)).version.name, version.name);
    // The next job aligns the words to the other media.
    const next = await calls.ended(await calls.begin(name));
    assert.equal(next.state, "SUCCESS");
    const after = await calls.get(name);
    assert.equal(after.version.name, next.transcriptVersion);
    const startTime = seconds(after.segments[0].startTime);
    assert.ok(startTime >= 1.9 && startTime <= 5.1, `${startTime}`);
  });

  test("keeps metadata that changes meanwhile", async () => {
    const name = await calls.create(slow);
    const job = await calls.begin(name);
    await calls.reaches(job, "ALIGNING");
    const change = { metadata: { subject: "Nýtt nafn" } };
    const changed = await service.call("PATCH", `/v1alpha1/${name}`, change);
    const { state, transcriptVersion } = await calls.ended(job);
    assert.equal(state, "SUCCESS");
    const { version, metadata } = await calls.get(name);
    assert.equal(version.name, transcriptVersion);
    assert.equal(version.parent, changed.json.version.name);
    assert.equal(metadata.subject, "Nýtt nafn");
  });

  test("ends within seconds if its transcript is deleted", async () => {
    const name = await calls.create(slow);
    const job = await calls.begin(name);
    await calls.reaches(job, "ALIGNING");
    assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
    await until(async () => (await calls.get(job)).state === "ERROR", 5_000);
    const { error } = await calls.get(job);
    assert.deepEqual([error.code, error.details[0].reason], [5, "TRANSCRIPT_NOT_FOUND"]);
  });

  test("ends as ERROR with the reason if the media is not a recording", async () => {
    const name = await calls.create(Buffer.from("this is text, not sound"));
    const { state, error } = await calls.ended(await calls.begin(name));
    assert.equal(state, "ERROR");
    assert.match(error.details[0].reason, /^MEDIA_/);
  });
});

interface Times {
  readonly startTime: string;
  readonly endTime: string;
}

function wordsOf(transcript: Answer["json"]): unknown {
  return transcript.segments.map(
    ({ speakerId, words }: { speakerId: string; words: { word: string }[] }) => ({
      speakerId,
      words: words.map(({ word }) => word),
    }),
  );
}

describe("a submit is refused", () => {
  const absent = newId();
  const rows: readonly [what: string, transcript: string, status: number, reason: string][] = [
    ["without a transcript", "", 400, "INVALID_ARGUMENT"],
    ["for another resource", `transcriptjob/${absent}`, 400, "INVALID_ARGUMENT"],
    ["for a malformed id", "transcripts/1", 400, "INVALID_ARGUMENT"],
    ["for a malformed version", `transcripts/${absent}/versions/1`, 400, "INVALID_ARGUMENT"],
    [
      "for more than a version",
      `transcripts/${absent}/versions/${absent}/x`,
      400,
      "INVALID_ARGUMENT",
    ],
    ["for an absent transcript", `transcripts/${absent}`, 404, "TRANSCRIPT_NOT_FOUND"],
    ["for a version of it", `transcripts/${absent}/versions/${absent}`, 404, "VERSION_NOT_FOUND"],
  ];
  for (const [what, transcript, status, reason] of rows) {
    test(what, async () => {
      const answer = await calls.submit(transcript);
      assert.equal(answer.status, status);
      if (status === 400) assert.deepEqual(fieldsOf(answer), ["transcript"]);
      else assert.equal(answer.json.details[0].reason, reason);
    });
  }

  test("for an absent version, and for one with other segments than the current one", async () => {
    const name = await calls.create(speech);
    const { version } = await calls.get(name);
    const none = await calls.submit(`${name}/versions/${absent}`);
    assert.deepEqual([none.status, none.json.details[0].reason], [404, "VERSION_NOT_FOUND"]);
    const change = { segments: [segmentOf("önnur orð")] };
    const changed = await service.call("PATCH", `/v1alpha1/${name}`, change);
    const stale = await calls.submit(`${name}/versions/${version.name}`);
    assert.deepEqual([stale.status, stale.json.details[0].reason], [409, "VERSION_STALE"]);
    assert.equal(stale.json.details[0].metadata.currentVersion, changed.json.version.name);
  });

  const { metadata, segments } = unaligned;
  const blank = {
    startTime: "0s",
    endTime: "1s",
    words: [{ ...segmentOf("x").words[0], word: " \n" }],
  };
  const unfit: readonly [
    what: string,
    media: Buffer | undefined,
    transcript: object,
    reason: string,
  ][] = [
    ["no media", undefined, unaligned, "TRANSCRIPT_WITHOUT_MEDIA"],
    ["no segments", speech, { metadata, segments: [] }, "TRANSCRIPT_WITHOUT_WORDS"],
    ["blank words only", speech, { metadata, segments: [blank] }, "TRANSCRIPT_WITHOUT_WORDS"],
    [
      "a language without a model",
      speech,
      { metadata: { ...metadata, languageCode: "fo-FO" }, segments },
      "ALIGNMENT_NOT_SUPPORTED",
    ],
  ];
  for (const [what, media, transcript, reason] of unfit) {
    test(`for a transcript with ${what}`, async () => {
      const { status, json } = await calls.submit(await calls.create(media, transcript));
      assert.deepEqual([status, json.code, json.details[0].reason], [400, 9, reason]);
    });
  }
});

test("a job of no transcript, and names of other things, are not found", async () => {
  const name = await calls.create(speech);
  for (const path of [
    `alignmentjobs/${newId()}`,
    "alignmentjobs/1",
    `${name}/alignmentjob`,
    `${name}/versions/${newId()}/alignmentjob`,
  ]) {
    const { status, json } = await service.call("GET", `/v1alpha1/${path}`);
    assert.deepEqual([path, status, json.details[0].reason], [path, 404, "JOB_NOT_FOUND"]);
  }
  const { status } = await service.call("POST", `/v1alpha1/alignmentjobs/${newId()}:cancel`, {});
  assert.equal(status, 404);
});

test("a request for a job that names neither the job nor a transcript is refused", async () => {
  const baseUrl = service.address;
  const headers = { authorization: `Bearer ${service.key}` };
  for (const transport of [
    createGrpcTransport({ baseUrl }),
    createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
  ]) {
    const client = createClient(Transcripts, transport);
    const failure = await connectFailure(client.getAlignmentJob({}, { headers }));
    assert.equal(failure.code, Code.InvalidArgument);
    assert.equal(failure.rawMessage, "name: or transcript is required");
  }
  const answer = await service.call("GET", "/v1alpha1/alignmentjobs/");
  assert.equal(answer.status, 404, "no path has neither");
});
