// Extensions of §4: export and import of transcripts as files, and the difference between two
// versions.
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
import { textOf } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

let service: TestService;
let path: string;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf("Ávarp: dagur 1/2", { speakers: { a: speaker("Anna & Co") } }),
    segments: [
      { ...segmentOf("Góðan dag, "), speakerId: "a" },
      { ...segmentOf("verið velkomin <3", 2), speakerId: "b" },
    ],
  });
  path = `/v1alpha1/${json.name}`;
});
after(() => service[Symbol.asyncDispose]());

const file = (query: string) =>
  fetch(`${service.address}${path}:export${query}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });

const painted = [
  "WEBVTT\n",
  "1\n00:00:00.000 --> 00:00:00.500\n<v Anna &amp; Co>Góðan\n",
  "2\n00:00:00.500 --> 00:00:02.000\n<v Anna &amp; Co>Góðan dag,\n",
  "3\n00:00:02.000 --> 00:00:02.500\n<v Anna &amp; Co>Góðan dag,</v>\n<v b>verið\n",
  "4\n00:00:02.500 --> 00:00:03.000\n<v Anna &amp; Co>Góðan dag,</v>\n<v b>verið velkomin\n",
  "5\n00:00:03.000 --> 00:00:10.000\n<v Anna &amp; Co>Góðan dag,</v>\n<v b>verið velkomin &lt;3\n",
].join("\n");
const labels = [
  "0.000000\t0.500000\tGóðan\n",
  "0.500000\t1.000000\tdag,\n",
  "2.000000\t2.500000\tverið\n",
  "2.500000\t3.000000\tvelkomin\n",
  "3.000000\t3.500000\t<3\n",
].join("");

test("a transcript is exported in the requested format", async () => {
  const rows: [format: string, type: string, ending: string, text: string | undefined][] = [
    [
      "SRT",
      "application/x-subrip; charset=utf-8",
      "srt",
      "1\n00:00:00,000 --> 00:00:01,000\nGóðan dag,\n\n2\n00:00:02,000 --> 00:00:03,500\nverið velkomin <3\n",
    ],
    [
      "VTT",
      "text/vtt; charset=utf-8",
      "vtt",
      "WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.000\n<v Anna &amp; Co>Góðan dag,\n\n2\n00:00:02.000 --> 00:00:03.500\n<v b>verið velkomin &lt;3\n",
    ],
    [
      "VTT_POP_ON",
      "text/vtt; charset=utf-8",
      "vtt",
      "WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.000\n<v Anna &amp; Co>Góðan dag,\n\n2\n00:00:02.000 --> 00:00:03.500\n<v b>verið velkomin &lt;3\n",
    ],
    ["VTT_PAINT_ON", "text/vtt; charset=utf-8", "vtt", painted],
    ["AUDACITY_LABELS", "text/plain; charset=utf-8", "txt", labels],
    ["2", "text/vtt; charset=utf-8", "vtt", painted],
    ["5", "text/plain; charset=utf-8", "txt", labels],
    ["TEXT", "text/plain; charset=utf-8", "txt", "Anna & Co: Góðan dag,\n\nb: verið velkomin <3\n"],
    ["JSON", "application/json", "json", undefined],
  ];
  for (const [format, type, ending, text] of rows) {
    const answer = await file(`?format=${format}`);
    assert.equal(answer.status, 200, format);
    assert.equal(answer.headers.get("content-type"), type);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal(
      answer.headers.get("content-disposition"),
      `attachment; filename="Avarp dagur 1 2.${ending}"; filename*=UTF-8''%C3%81varp%20dagur%201%202.${ending}`,
    );
    const content = await answer.text();
    if (text !== undefined) assert.equal(content, text);
    else assert.deepEqual(JSON.parse(content), (await service.call("GET", path)).json);
  }
});

test("earlier versions can be exported; a missing version gets 404, and an unknown format gets 400", async () => {
  const { json: first } = await service.call("GET", path);
  const change = { segments: [segmentOf("allt annað")], metadata: { subject: "" } };
  const { json: second } = await service.call("PATCH", path, change);
  assert.equal(await (await file("?format=TEXT")).text(), "allt annað\n");
  const unnamed = await file(`?format=TEXT&version=${second.version.name}`);
  assert.equal(unnamed.headers.get("content-disposition"), 'attachment; filename="transcript.txt"');
  const old = await file(`?format=TEXT&version=${first.version.name}`);
  assert.match(await old.text(), /velkomin/);
  const { json: other } = await service.call("POST", "/v1alpha1/transcripts", draftOf("annað"));
  const { json: foreign } = await service.call("GET", `/v1alpha1/${other.name}`);
  const rows: [query: string, status: number, message: RegExp][] = [
    [
      "",
      400,
      /format: VTT_PAINT_ON, VTT_POP_ON, SRT, AUDACITY_LABELS, VTT, TEXT, DOCX, ODT or JSON is expected/,
    ],
    [
      "?format=EXPORT_FORMAT_UNSPECIFIED",
      400,
      /format: VTT_PAINT_ON, VTT_POP_ON, SRT, AUDACITY_LABELS, VTT, TEXT, DOCX, ODT or JSON is expected/,
    ],
    ["?format=DOC", 400, /format.*SRT/],
    [
      "?format=9",
      400,
      /format: VTT_PAINT_ON, VTT_POP_ON, SRT, AUDACITY_LABELS, VTT, TEXT, DOCX, ODT or JSON is expected, not 9/,
    ],
    ["?format=SRT&version=x", 404, /there is no version/],
    [`?format=SRT&version=${foreign.version.name}`, 404, /there is no version/],
    ["?format=SRT&lines=3", 400, /lines/],
  ];
  for (const [query, status, message] of rows) {
    const { json, ...answer } = await service.call("GET", `${path}:export${query}`);
    assert.equal(answer.status, status, query);
    assert.match(json.message, message, query);
  }
  const absent = await service.call("GET", "/v1alpha1/transcripts/x:export?format=SRT");
  assert.deepEqual([absent.status, absent.json.error.status], [404, "NOT_FOUND"]);
  await service.call("POST", `${path}:restore`, { version: first.version.name });
});

const importFile = (content: string, more: Record<string, unknown> = {}) =>
  service.call("POST", "/v1alpha1/transcripts:import", {
    metadata: { fileType: "VIDEO", languageCode: "is-IS", subject: "Innflutt" },
    content,
    ...more,
  });

test("subtitles are imported as a transcript, and exported unchanged", async () => {
  const vtt =
    "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.500\n<v Anna>Góðan dag\n\n2\n00:00:03.000 --> 00:00:04.000\n<v Bo>Já\n";
  const { status, json } = await importFile(vtt, {
    metadata: {
      fileType: "VIDEO",
      languageCode: "is-IS",
      subject: "Innflutt",
      speakers: { x: speaker("Bo"), "1": speaker("") },
    },
  });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ["name"]);
  const { json: transcript } = await service.call("GET", `/v1alpha1/${json.name}`);
  assert.equal(textOf(transcript), "Góðan dag Já");
  const { metadata, segments } = transcript;
  assert.equal(metadata.dataSource, "USER");
  assert.deepEqual([metadata.originalCharLength, metadata.originalByteLength], [12, 15]);
  assert.deepEqual(metadata.speakers, {
    x: speaker("Bo"),
    "1": speaker(""),
    "3": speaker("Anna"),
  });
  assert.deepEqual(
    segments.map(({ startTime, endTime, speakerId }: Record<string, string>) => [
      startTime,
      endTime,
      speakerId,
    ]),
    [
      ["1s", "2.500s", "3"],
      ["3s", "4s", "x"],
    ],
  );
  assert.deepEqual(segments[0].words, [
    { startTime: "1s", endTime: "1.900s", word: "Góðan " },
    { startTime: "1.900s", endTime: "2.500s", word: "dag " },
  ]);
  const again = await fetch(`${service.address}/v1alpha1/${json.name}:export?format=VTT`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  assert.equal(await again.text(), vtt);
  const patched = await service.call("PATCH", `/v1alpha1/${json.name}`, { segments: [] });
  assert.equal(patched.json.metadata.originalCharLength, 12);
});

test("an unreadable file is reported with every other problem, and nothing is stored", async () => {
  const count = async () =>
    (await service.call("GET", "/v1alpha1/transcripts")).json.transcripts.length;
  const before = await count();
  const time = "00:00:01,000 --> 00:00:02,000";
  const rows: [content: string, more: Record<string, unknown>, message: RegExp][] = [
    ["", {}, /^content: is required/],
    ["hello", {}, /^content: line 1: times such as/],
    [`1\n${time}\nA`, { format: "VTT" }, /^content: line 1: WEBVTT is expected/],
    [`1\n${time}\nA`, { format: "DOCX" }, /^format: SRT, VTT, TEXT or JSON is expected, not DOCX$/],
    [`1\n${time}\nA`, { format: "DOC" }, /format/],
    [" ", { metadata: {}, format: "DOCX" }, /fileType.*languageCode.*format.*content/],
    [`${time}\nA\n\n`.repeat(20_001), {}, /has 20001 cues with text: at most 20000/],
    [`${time}\n${"a ".repeat(200_001)}`, {}, /has 200001 words; at most 200000/],
    [`WEBVTT\n\n${time}\n<v ${"a".repeat(1001)}>A`, {}, /names a speaker in 1001 characters/],
    [
      "A\n\n[0:05] B\n\n[0:04] C",
      { format: "TEXT" },
      /^content: line 5: the time 00:00:04 is before the time above it, 00:00:05$/,
    ],
    ["A\n[0:61] B", { format: "TEXT" }, /^content: line 2: minutes and seconds must be 0 to 59/],
    ["A\n[1000:00:01] B", { format: "TEXT" }, /^content: line 2: times must be at most 1000 hours/],
    ["A\n".repeat(20_001), { format: "TEXT" }, /has 20001 paragraphs: at most 20000/],
    ["{\n}", {}, /^content: line 1: segments is required/],
    ['{\n"segments": [\n}', {}, /^content: line 3: not valid JSON at column 1: expected/],
    [
      '{"segments": [\n{"startTime": "2s",\n"endTime": "1s"}]}',
      {},
      /^content: line 3: segments\[0\]\.endTime is before its startTime$/,
    ],
    ['{"segments": [],\n"metadata": {"speakers": 5}}', {}, /^content: line 2: metadata\.speakers /],
    ['{"segments": []}', { metadata: {} }, /fileType.*languageCode/],
  ];
  for (const [content, more, message] of rows) {
    const { status, json } = await importFile(content, more);
    assert.equal(status, 400, String(message));
    assert.match(json.message, message);
  }
  assert.equal(await count(), before);
});

test("two versions are compared (extension)", async () => {
  const { json: made } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf("Upphaf", { additionalMetadata: { room: "1", floor: "2" } }),
    segments: [segmentOf("góðan dag og "), segmentOf("velkomin öll", 2)],
  });
  const name = `/v1alpha1/${made.name}`;
  const { json: first } = await service.call("GET", name);
  const { json: second } = await service.call("PATCH", name, {
    metadata: {
      subject: "Ný",
      additionalMetadata: { room: "3" },
      speakers: { a: speaker("A") },
    },
    segments: [
      { ...segmentOf("góðan morgun og "), speakerId: "a" },
      segmentOf("velkomin öll nú", 3),
    ],
  });
  const diff = (version: string, query = "") =>
    service.call("GET", `${name}/versions/${version}:diff${query}`);
  const { status, json } = await diff(second.version.name);
  assert.equal(status, 200);
  const { runs, metadataChanges, ...facts } = json;
  assert.deepEqual(facts, {
    version: second.version.name,
    against: first.version.name,
    wordsKept: 2,
    wordsRetimed: 2,
    wordsAdded: 2,
    wordsRemoved: 1,
    wordsRespoken: 2,
    wordsResegmented: 0,
    runCount: 6,
  });
  assert.deepEqual(
    runs.map((run: Record<string, unknown>) => [run["kind"], run["count"], run["text"]]),
    [
      ["KEPT", 1, ""],
      ["REMOVED", 1, "dag "],
      ["ADDED", 1, "morgun "],
      ["KEPT", 1, ""],
      ["RETIMED", 2, "velkomin öll "],
      ["ADDED", 1, "nú"],
    ],
  );
  assert.deepEqual(runs[4], {
    kind: "RETIMED",
    count: 2,
    wordIndex: 3,
    againstWordIndex: 3,
    text: "velkomin öll ",
    startTime: "3s",
    endTime: "4s",
    againstStartTime: "2s",
    againstEndTime: "3s",
  });
  assert.deepEqual(metadataChanges, [
    { field: "subject", value: "Ný", againstValue: "Upphaf" },
    { field: "additionalMetadata.floor", value: null, againstValue: "2" },
    { field: "additionalMetadata.room", value: "3", againstValue: "1" },
    { field: "speakers.a", value: { fullName: "A" }, againstValue: null },
  ]);
  const back = await diff(first.version.name, `?against=${second.version.name}`);
  assert.deepEqual([back.json.wordsAdded, back.json.wordsRemoved], [1, 2]);
  const whole = await diff(first.version.name);
  assert.deepEqual([whole.json.against, whole.json.wordsAdded], ["", 5]);
  const same = await diff(second.version.name, `?against=${second.version.name}`);
  assert.deepEqual([same.json.runCount, same.json.metadataChanges], [1, []]);
  const rest = await diff(second.version.name, "?skip=5");
  assert.deepEqual(rest.json.runs, [runs[5]]);
  const { json: foreign } = await service.call("GET", path);
  const rows: [version: string, query: string, status: number][] = [
    ["x", "", 404],
    [foreign.version.name, "", 404],
    [second.version.name, "?against=x", 404],
    [second.version.name, `?against=${foreign.version.name}`, 404],
    [second.version.name, "?skip=-1", 400],
  ];
  for (const [version, query, status] of rows) {
    assert.equal((await diff(version, query)).status, status, `${version} ${query}`);
  }
});

test("files and differences work over gRPC and through the client", async () => {
  const headers = { authorization: `Bearer ${service.key}` };
  const grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const { transcripts } = createHlustClient({ url: service.address, token: service.key });
  const content = "1\n00:00:01,000 --> 00:00:02,000\nGóðan dag\n";
  for (const client of [grpc, transcripts]) {
    const metadata = { fileType: FileType.AUDIO, languageCode: "is-IS", subject: "Sími" };
    const { name } = await client.importTranscript({ metadata, content }, { headers });
    let disposition: string | null = null;
    const file = await client.exportTranscript(
      { name, format: ExportFormat.SRT },
      { headers, onHeader: (header) => (disposition = header.get("content-disposition")) },
    );
    assert.equal(Buffer.from(file.exportedTranscript?.data ?? []).toString(), content);
    assert.equal(file.exportedTranscript?.contentType, "application/x-subrip; charset=utf-8");
    assert.match(String(disposition), /filename="Simi\.srt"/);
    const { version } = await client.getTranscript({ name }, { headers });
    const diff = await client.diffTranscriptVersions(
      { name: `${name}/versions/${version?.name}` },
      { headers },
    );
    assert.equal(diff.wordsAdded, 2);
    assert.equal(diff.runs[0]?.text, "Góðan dag");
  }
});
