// The confidence of words in transcripts (extension).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import {
  ExportFormat,
  TranscriptMetadata_FileType as FileType,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { espeak, flite, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { AlignmentCalls } from "./alignment.ts";
import { fieldsOf, pollJob } from "./jobs.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";

let service: TestService;
let calls: AlignmentCalls;
before(async () => {
  service = await openTestService({ HLUST_LOG: "silent" });
  calls = new AlignmentCalls(service);
});
after(() => service[Symbol.asyncDispose]());

const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject: "Vissa" };

/** Returns segments of one word for each confidence; undefined leaves the field out. */
function segmentsOf(...confidences: readonly unknown[]) {
  const words = confidences.map((confidence) => ({
    startTime: "0s",
    endTime: "1s",
    word: "já ",
    confidence,
  }));
  return [{ startTime: "0s", endTime: "1s", words, speakerId: "" }];
}

function confidencesIn({ segments }: Answer["json"]): (number | undefined)[] {
  return segments.flatMap(({ words }: { words: { confidence?: number }[] }) =>
    words.map(({ confidence }) => confidence),
  );
}

test("a transcript keeps the confidences that its creator sends, with three decimals, in every answer", async () => {
  const segments = segmentsOf(0, 1, 0.853, 0.123_456, undefined, null, "0.5");
  const expected = [0, 1, 0.853, 0.123, undefined, undefined, 0.5];
  const name = await calls.create(undefined, { metadata, segments });
  const got = await calls.get(name);
  assert.deepEqual(confidencesIn(got), expected);
  assert.deepEqual(Object.keys(got.segments[0].words[4]), ["startTime", "endTime", "word"]);
  for (const path of [`/versions/${got.version.name}`, ":export?format=JSON"]) {
    assert.deepEqual(confidencesIn(await calls.get(`${name}${path}`)), expected, path);
  }
  const options = { headers: { authorization: `Bearer ${service.key}` } };
  const grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const { transcripts } = createHlustClient({ url: service.address, token: service.key });
  for (const client of [grpc, transcripts]) {
    const answer = await client.getTranscript({ name }, options);
    const floats = expected.map((each) => each && Math.fround(each));
    const found = answer.segments[0]?.words.map(
      ({ confidence }) => confidence && Math.fround(confidence),
    );
    assert.deepEqual(found, floats);
    const file = await client.exportTranscript({ name, format: ExportFormat.JSON }, options);
    const json = Buffer.from(file.exportedTranscript?.data ?? []).toString();
    assert.deepEqual(confidencesIn(JSON.parse(json)), expected);
  }
});

test("an update keeps confidences that are sent back and removes those that are not", async () => {
  const name = await calls.create(undefined, { metadata, segments: segmentsOf(0.853, 0.5) });
  const first = await calls.get(name);
  const path = `/v1alpha1/${name}`;
  const unchanged = await service.call("PATCH", path, first);
  assert.deepEqual(unchanged.json.segments, first.segments);
  const [segment] = first.segments;
  const [sure, unsure] = segment.words;
  const { confidence: _, ...corrected } = { ...unsure, word: "nei " };
  const patched = await service.call("PATCH", path, {
    segments: [{ ...segment, words: [sure, corrected] }],
  });
  assert.equal(patched.status, 200);
  assert.deepEqual(confidencesIn(patched.json), [0.853, undefined]);
  const restored = await service.call("POST", `${path}:restore`, { version: first.version.name });
  assert.deepEqual(confidencesIn(restored.json), [0.853, 0.5]);
});

test("ModifySegments accepts confidences, and keeps those of segments that it does not replace", async () => {
  const segments = [...segmentsOf(0.853, undefined), ...segmentsOf(0.5)];
  const name = await calls.create(undefined, { metadata, segments });
  const path = `/v1alpha1/${name}`;
  const modify = async (confidence: unknown) => {
    const { version } = await calls.get(name);
    const changes = [{ startIndex: 1, endIndex: 2, segments: segmentsOf(confidence, undefined) }];
    const headers = { "if-match": version.name };
    return await service.call("POST", `${path}:modifySegments`, { changes }, headers);
  };
  assert.equal((await modify(0.4567)).status, 200);
  assert.deepEqual(confidencesIn(await calls.get(name)), [0.853, undefined, 0.457, undefined]);
  for (const wrong of [-0.1, 1.1, "NaN"]) {
    const refused = await modify(wrong);
    assert.equal(refused.status, 400);
    assert.match(refused.json.message, /confidence: must be 0 to 1, not /);
  }
  assert.deepEqual(confidencesIn(await calls.get(name)), [0.853, undefined, 0.457, undefined]);
});

test("a floating-point number sent over gRPC is stored as the JSON number", async () => {
  const grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const options = { headers: { authorization: `Bearer ${service.key}` } };
  const time = { startTime: { seconds: 0n }, endTime: { seconds: 1n } };
  const metadata = { fileType: FileType.AUDIO, languageCode: "is-IS" };
  const segmentsWith = (confidence: number) => [
    {
      ...time,
      words: [
        { ...time, word: "já", confidence },
        { ...time, word: "já" },
      ],
    },
  ];
  const { name } = await grpc.createTranscript(
    { transcript: { metadata, segments: segmentsWith(0.853) } },
    options,
  );
  assert.deepEqual(confidencesIn(await calls.get(name)), [0.853, undefined]);
  for (const wrong of [-0.01, 1.01, NaN, Infinity, -Infinity]) {
    const transcript = { metadata, segments: segmentsWith(wrong) };
    const refused = grpc.createTranscript({ transcript }, options);
    await assert.rejects(refused, /segments\[0\]\.words\[0\]\.confidence: must be 0 to 1, not /);
  }
});

test("confidences that are not a number from 0 to 1 are refused, and nothing is stored", async () => {
  const name = await calls.create(undefined, { metadata, segments: segmentsOf(0.5) });
  const { version } = await calls.get(name);
  const outside = [-0.001, -1, 1.001, 2, 1e300, "NaN", "Infinity", "-Infinity", "1.5"];
  // The same words in a body of more than 64 kB are read in another thread.
  for (const count of [1, 2_000]) {
    for (const confidence of outside) {
      const segments = segmentsOf(...Array.from({ length: count }, () => 0.5), confidence);
      for (const [method, path] of [
        ["POST", "/v1alpha1/transcripts"],
        ["PATCH", `/v1alpha1/${name}`],
      ] as const) {
        const answer = await service.call(method, path, { metadata, segments });
        assert.equal(answer.status, 400, `${method} ${confidence}`);
        if (confidence !== 1e300) {
          assert.deepEqual(fieldsOf(answer), [`segments[0].words[${count}].confidence`]);
          assert.match(answer.json.message, /must be 0 to 1, not /);
        }
      }
    }
  }
  for (const confidence of [true, {}, [], "", "viss", " 1", "0x1"]) {
    const segments = segmentsOf(confidence);
    const { status } = await service.call("PATCH", `/v1alpha1/${name}`, { segments });
    assert.equal(status, 400, JSON.stringify(confidence));
  }
  assert.equal((await calls.get(name)).version.name, version.name);
});

const spoken = [
  ["en-US", () => flite("the weather is cold and dark today")],
  ["is-IS", () => espeak("góðan daginn veðrið er gott í dag")],
] as const;
for (const [languageCode, speak] of spoken) {
  test(`a job in ${languageCode} keeps the engine's confidence of each word, and so does alignment`, async () => {
    const wav = wavOf(joined(silence(500), speak(), silence(1_000)));
    const begun = await service.call("POST", "/v1alpha1/initupload", {});
    const put = await fetch(begun.json.storageSignedUrl, { method: "PUT", body: wav });
    assert.equal(put.status, 200);
    const { json: job } = await service.call("POST", "/v1alpha1/transcriptjob:submit", {
      metadata: { languageCode, fileType: "AUDIO" },
      useUri: false,
      uri: begun.json.resourceName,
    });
    const { last } = await pollJob(service, job.name);
    assert.equal(last.state, "SUCCESS", JSON.stringify(last.error));
    const transcript = await calls.get(last.transcript);
    const found = confidencesIn(transcript);
    assert.ok(found.length >= 4);
    for (const confidence of found) {
      assert.ok(confidence !== undefined && confidence >= 0 && confidence <= 1);
      assert.equal(confidence, Math.round(confidence * 1000) / 1000);
    }
    assert.ok(new Set(found).size > 1, "words differ in how clear they are");
    const { state } = await calls.ended(await calls.begin(last.transcript));
    assert.equal(state, "SUCCESS");
    const aligned = await calls.get(last.transcript);
    assert.deepEqual(confidencesIn(aligned), found);
  });
}
