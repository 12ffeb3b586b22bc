// A client that is generated from the original's contract drives the methods of its transcript
// service over gRPC.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { openOriginalClient, type Message, type OriginalClient } from "./original-client.ts";

const sentence = "the council meets on the first monday of the month";
let service: TestService;
let host: MediaHost;
let client: OriginalClient;

before(async () => {
  host = await openMediaHost({
    "/talk.wav": speak(sentence),
    "/gone.wav": (_, response) => {
      response.writeHead(410).end();
    },
    // This media never arrives.
    "/slow.wav": (_, response) => {
      response.writeHead(200, { "content-length": 1_000_000 }).write("RIFF");
    },
  });
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  client = openOriginalClient(
    "lr/transcript/v1alpha1/transcript.proto",
    "lr.transcript.v1alpha1.TranscriptService",
    service,
  );
});
after(async () => {
  client[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const seconds = (value: number) => ({ seconds: Math.trunc(value), nanos: (value % 1) * 1e9 });

function draft(subject: string, more: object = {}): Message {
  return {
    metadata: { file_type: "AUDIO", language_code: "is-IS", subject, ...more },
    segments: [
      {
        start_time: seconds(0),
        end_time: seconds(1.5),
        words: [
          { start_time: seconds(0), end_time: seconds(0.5), word: "góðan " },
          { start_time: seconds(0.5), end_time: seconds(1.5), word: "dag" },
        ],
        speaker_id: "S1",
      },
    ],
  };
}

async function submit(path: string): Promise<Message> {
  return await client.call("SubmitTranscriptJob", {
    metadata: { file_type: "AUDIO", language_code: "en-US", subject: path, keywords: ["fundur"] },
    use_uri: true,
    uri: host.address + path,
  });
}

async function ended(name: string): Promise<Message> {
  let job: Message;
  await until(async () => {
    job = await client.call("GetTranscriptJob", { name });
    return job.state !== "PROCESSING";
  }, 60_000);
  return job;
}

function textOf({ segments }: Message): string {
  return segments.flatMap(({ words }: Message) => words.map(({ word }: Message) => word)).join("");
}

test("a job is submitted, polled and listed, and its transcript is read", async () => {
  const submitted = await submit("/talk.wav");
  assert.match(submitted.name, /^transcriptjob\//);
  assert.equal(submitted.state, "SUBMITTED");
  assert.equal(submitted.result, undefined);
  const job = await ended(submitted.name);
  assert.deepEqual([job.state, job.progress_percent, job.result], ["SUCCESS", 100, "transcript"]);
  assert.equal(job.transcript_metadata.original_source, "original_uri");
  assert.equal(job.transcript_metadata.original_uri, `${host.address}/talk.wav`);
  assert.ok(job.transcript_metadata.recording_duration.seconds > 0);
  const transcript = await client.call("GetTranscript", { name: job.transcript });
  assert.ok(textOf(transcript).split(" ").length > 5);
  assert.equal(transcript.version.parent, "");
  assert.match(transcript.uri, /^http/);
  const { jobs, next_page_token: next } = await client.call("ListTranscriptJobs", { page_size: 1 });
  assert.deepEqual([jobs.length, jobs[0].name, next === ""], [1, job.name, true]);
});

test("a failed job has the state ERROR, and its error has a code", async () => {
  const job = await ended((await submit("/gone.wav")).name);
  assert.deepEqual([job.state, job.result, job.error.code], ["ERROR", "error", 5]);
});

test("a cancelled job has the state CANCELLED", async () => {
  const { name } = await submit("/slow.wav");
  assert.equal((await service.call("POST", `/v1alpha1/${name}:cancel`, {})).status, 200);
  const job = await ended(name);
  assert.deepEqual([job.state, job.error.code], ["CANCELLED", 1]);
});

test("a transcript is created, read, updated, exported and deleted", async () => {
  const speakers = { S1: { full_name: "Þóra", age_group: "ADULT", gender: "FEMALE" } };
  const dictated = { dictation: true, speakers, additional_metadata: { room: "3" } };
  const transcript = draft("Ávarp", dictated);
  const { name } = await client.call("CreateTranscript", { transcript });
  const first = await client.call("GetTranscript", { name });
  assert.deepEqual(first.metadata.speakers, speakers);
  assert.deepEqual(first.metadata.additional_metadata, { room: "3" });
  assert.deepEqual([first.metadata.original_source, first.metadata.dictation], ["dictation", true]);
  assert.deepEqual(first.segments, transcript.segments);

  const change = { name, metadata: { subject: "Ávarp forseta" } };
  const second = await client.call("UpdateTranscript", { transcript: change });
  assert.equal(second.metadata.subject, "Ávarp forseta");
  assert.equal(second.metadata.language_code, "is-IS");
  assert.equal(second.version.parent, first.version.name);
  const earlier = await client.call("GetTranscript", { name, version: first.version.name });
  assert.equal(earlier.metadata.subject, "Ávarp");

  const vtt = "text/vtt; charset=utf-8";
  const files: [format: string, contentType: string, text: string][] = [
    [
      "VTT_PAINT_ON",
      vtt,
      "WEBVTT\n\n1\n00:00:00.000 --> 00:00:00.500\n<v Þóra>góðan\n\n2\n00:00:00.500 --> 00:00:07.500\n<v Þóra>góðan dag\n",
    ],
    ["VTT_POP_ON", vtt, "WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.500\n<v Þóra>góðan dag\n"],
    ["SRT", "application/x-subrip; charset=utf-8", "1\n00:00:00,000 --> 00:00:01,500\ngóðan dag\n"],
    [
      "AUDACITY_LABELS",
      "text/plain; charset=utf-8",
      "0.000000\t0.500000\tgóðan\n0.500000\t1.500000\tdag\n",
    ],
  ];
  for (const [format, contentType, text] of files) {
    const { exported_transcript: file } = await client.call("ExportTranscript", {
      name,
      format,
      version: first.version.name,
    });
    assert.equal(file.content_type, contentType);
    assert.equal(file.data.toString(), text);
  }

  const filter = 'metadata.subject CONTAINS "forseta"';
  const list = await client.call("ListTranscripts", { filter, page_size: 5 });
  assert.deepEqual(
    list.transcripts.map((one: Message) => [one.name, one.segments, one.metadata.subject]),
    [[name, [], "Ávarp forseta"]],
  );
  assert.deepEqual(await client.call("DeleteTranscript", { name }), {});
  await assert.rejects(client.call("GetTranscript", { name }), { code: 5 });
});

test("numbers of a speaker's age and gender that have no name are refused", async () => {
  for (const [wrong, field] of [
    [{ age_group: 9 }, "ageGroup"],
    [{ gender: 9 }, "gender"],
  ] as const) {
    const transcript = draft("Slæm", { speakers: { S1: wrong } });
    await assert.rejects(client.call("CreateTranscript", { transcript }), (error: Message) => {
      assert.equal(error.code, 3);
      assert.ok(error.details.startsWith(`metadata.speakers["S1"].${field}: is 9: one of `));
      return true;
    });
  }
});

test("transcripts are listed in each ordering and both directions, and wrong ones are refused", async () => {
  const created: string[] = [];
  for (const subject of ["b", "á", "a"]) {
    const transcript = draft(subject, { keywords: ["röð"] });
    created.push((await client.call("CreateTranscript", { transcript })).name);
  }
  const filter = 'metadata.keywords CONTAINS ["röð"]';
  const subjects = async (ordering?: object): Promise<string[]> => {
    const first = await client.call("ListTranscripts", { filter, ordering, page_size: 2 });
    const rest = { filter, ordering, page_token: first.next_page_token };
    const { transcripts } = await client.call("ListTranscripts", rest);
    return [...first.transcripts, ...transcripts].map(({ metadata }: Message) => metadata.subject);
  };
  const rows: [ordering: object | undefined, found: string[]][] = [
    [undefined, ["a", "á", "b"]],
    [{ direction: "ASCENDING" }, ["b", "á", "a"]],
    [{ direction: "DESCENDING", order_by: "version.creation_time" }, ["a", "á", "b"]],
    [{ order_by: "subject" }, ["b", "á", "a"]],
    [{ direction: "ASCENDING", order_by: "subject" }, ["a", "á", "b"]],
  ];
  for (const [ordering, found] of rows) {
    assert.deepEqual(await subjects(ordering), found, JSON.stringify(ordering));
  }
  // None has a recording, so all are found, in the order of their ids.
  const byDuration = { direction: "ASCENDING", order_by: "metadata.recording_duration" };
  assert.deepEqual((await subjects(byDuration)).toSorted(), ["a", "b", "á"]);
  for (const ordering of [{ direction: 7 }, { order_by: "name" }]) {
    await assert.rejects(client.call("ListTranscripts", { ordering }), { code: 3 });
    const watch = client.stream("WatchTranscripts", { ordering })[Symbol.asyncIterator]();
    await assert.rejects(watch.next(), { code: 3 });
  }
  for (const name of created) await client.call("DeleteTranscript", { name });
});

/** Returns the messages of a stream until one fits. */
async function untilFits(
  stream: AsyncIterator<Message>,
  fits: (message: Message) => boolean,
): Promise<Message[]> {
  const seen: Message[] = [];
  for (;;) {
    const { value } = await stream.next();
    seen.push(value);
    if (fits(value)) return seen;
  }
}

test("watches of jobs and transcripts send what there is, and then updates", async () => {
  const [jobs, transcripts] = [
    client.stream("WatchTranscriptJobs", {}),
    client.stream("WatchTranscripts", { page_size: 2 }),
  ];
  for (const stream of [jobs, transcripts])
    Reflect.get(stream, "on").call(stream, "error", () => {});
  const [ofJobs, ofTranscripts] = [
    jobs[Symbol.asyncIterator](),
    transcripts[Symbol.asyncIterator](),
  ];
  const { jobs: listed } = await client.call("ListTranscriptJobs", {});
  const names = (some: Message[]) => some.map(({ name }) => name);
  const [all] = await untilFits(ofJobs, () => true);
  assert.deepEqual([all.update, names(all.jobs)], [false, names(listed)]);
  const { transcripts: page, next_page_token: token } = await client.call("ListTranscripts", {
    page_size: 2,
  });
  const [first] = await untilFits(ofTranscripts, () => true);
  assert.deepEqual(
    [first.update, names(first.transcripts), first.next_page_token],
    [false, names(page), token],
  );
  const { name } = await submit("/talk.wav");
  const isDone = ({ jobs: some }: Message) =>
    some.some((job: Message) => job.name === name && job.state === "SUCCESS");
  const updates = await untilFits(ofJobs, isDone);
  assert.ok(updates.every(({ update }) => update === true));
  const { transcript } = await client.call("GetTranscriptJob", { name });
  await untilFits(ofTranscripts, ({ update, transcripts: some }) => {
    return update === true && names(some).includes(transcript);
  });
  jobs.cancel();
  transcripts.cancel();
});

test("the words of a transcript are aligned again, and the job is found, listed and watched", async () => {
  const transcribed = await ended((await submit("/talk.wav")).name);
  const name = transcribed.transcript;
  const before = await client.call("GetTranscript", { name });
  const submitted = await client.call("SubmitAlignmentJob", { transcript: name });
  assert.match(submitted.name, /^alignmentjobs\//);
  assert.deepEqual([submitted.state, submitted.transcript], ["SUBMITTED", name]);
  const watch = client.stream("WatchAlignmentJobs", {});
  const states = new Set<string>();
  for await (const { jobs } of watch) {
    for (const job of jobs) if (job.name === submitted.name) states.add(job.state);
    if (states.has("SUCCESS") || states.has("ERROR")) break;
  }
  watch.cancel();
  const job = await client.call("GetAlignmentJob", { transcript: name });
  assert.deepEqual([job.name, job.state, job.error], [submitted.name, "SUCCESS", null]);
  const { jobs } = await client.call("ListAlignmentJobs", { page_size: 5 });
  assert.deepEqual(
    jobs.map((each: Message) => each.name),
    [submitted.name],
  );
  const aligned = await client.call("GetTranscript", { name });
  assert.equal(aligned.version.name, job.transcript_version);
  assert.equal(aligned.version.parent, before.version.name);
  assert.equal(textOf(aligned), textOf(before));
  await assert.rejects(client.call("CancelAlignmentJob", { name: job.name }), { code: 9 });
});

test("every method of the original's contract is served", async () => {
  for (const method of client.methods) {
    const isStream = method.startsWith("Watch");
    const refused = isStream
      ? client.stream(method, { filter: "wrong" })[Symbol.asyncIterator]().next()
      : client.call(method, { name: "wrong", filter: "wrong" });
    const code = await refused.then(
      () => 0,
      (error: Message) => error.code,
    );
    assert.ok(code === 3 || code === 5, `${method}: ${code}`);
  }
});
