// §4.3: list transcripts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  ListTranscriptsResponseSchema,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { writeJson } from "../../src/transcoding/write-response.ts";
import { callRest, openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const path = "/v1alpha1/transcripts";
const subjects = [
  "Þingfundur um ÁLAGNINGU",
  "Fréttir",
  "100 % af_öllu",
  "Annar þingfundur",
  "Viðtal",
];
let service: TestService;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  for (const [at, subject] of subjects.entries()) {
    const keywords = ["allt", `númer ${at}`, at % 2 === 0 ? "jafnt" : "odda"];
    const { status } = await service.call("POST", path, draftOf(subject, { keywords }));
    assert.equal(status, 200);
  }
});
after(() => service[Symbol.asyncDispose]());

const list = (query: Readonly<Record<string, string>>) =>
  service.call("GET", `${path}?${new URLSearchParams(query).toString()}`);
const subjectsIn = (json: { transcripts: { metadata: { subject: string } }[] }) =>
  json.transcripts.map(({ metadata }) => metadata.subject);

test("transcripts are listed with the last changed first, without segments and with their unset fields", async () => {
  const { status, json } = await list({});
  assert.equal(status, 200);
  assert.deepEqual(subjectsIn(json), subjects.toReversed());
  assert.equal(json.nextPageToken, "");
  const [first] = json.transcripts;
  assert.deepEqual(first.segments, []);
  assert.equal(first.uri, "");
  assert.equal(first.metadata.recordingDuration, null);
  assert.equal(first.metadata.waveformUri, "");
  assert.equal(first.metadata.description, "");
  assert.deepEqual(first.metadata.speakers, {});
  assert.deepEqual(first.metadata.additionalMetadata, {});
  assert.equal(first.version.parent, "");
  assert.ok(Date.parse(first.version.creationTime) > 0);
});

test("gRPC returns the same list", async () => {
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  const answer = await client.listTranscripts({ pageSize: 3 }, { headers });
  assert.equal(answer.transcripts.length, 3);
  const { json } = await list({ pageSize: "3" });
  assert.deepEqual(JSON.parse(writeJson(ListTranscriptsResponseSchema, answer)), json);
});

test("the pages contain every transcript exactly once", async () => {
  const seen: string[] = [];
  let pageToken = "";
  do {
    const { status, json } = await list({ pageSize: "2", ...(pageToken !== "" && { pageToken }) });
    assert.equal(status, 200);
    assert.ok(json.transcripts.length <= 2);
    seen.push(...subjectsIn(json));
    pageToken = json.nextPageToken;
  } while (pageToken !== "");
  assert.deepEqual(seen, subjects.toReversed());
});

test("filters find the matching transcripts", async () => {
  const rows: [filter: string, found: string[]][] = [
    ['metadata.subject CONTAINS "þingfundur"', ["Annar þingfundur", "Þingfundur um ÁLAGNINGU"]],
    ['metadata.subject CONTAINS "ÁLAGNINGU"', ["Þingfundur um ÁLAGNINGU"]],
    ['metadata.subject CONTAINS "álagningu"', ["Þingfundur um ÁLAGNINGU"]],
    ['metadata.subject  CONTAINS  "%"', ["100 % af_öllu"]],
    ['metadata.subject CONTAINS "f_ö"', ["100 % af_öllu"]],
    ['metadata.subject CONTAINS "t_l"', []],
    ['metadata.subject CONTAINS "ekkert svona"', []],
    ['metadata.keywords CONTAINS ["odda"]', ["Annar þingfundur", "Fréttir"]],
    ['metadata.keywords CONTAINS ["númer 1", "númer 4", "x"]', ["Viðtal", "Fréttir"]],
    ['metadata.keywords CONTAINS ["allt"] AND metadata.keywords CONTAINS ["númer 4"]', ["Viðtal"]],
    [
      'metadata.subject CONTAINS "fundur" AND metadata.keywords CONTAINS ["odda", "x"]',
      ["Annar þingfundur"],
    ],
    ['metadata.keywords CONTAINS ["Odda"]', []],
    ['metadata.keywords CONTAINS ["odd"]', []],
  ];
  for (const [filter, found] of rows) {
    const { status, json } = await list({ filter });
    assert.equal(status, 200, `${filter}: ${json.message}`);
    assert.deepEqual(subjectsIn(json), found, filter);
  }
});

test("invalid filters are refused with the expected syntax and the column of the error", async () => {
  const rows: [query: Record<string, string>, message: RegExp][] = [
    [{ filter: "subject CONTAINS x" }, /column 1/],
    [{ filter: 'metadata.subject contains "x"' }, /CONTAINS.*column 18|column 18.*CONTAINS/],
    [{ filter: 'metadata.subject CONTAINS "x' }, /column/],
    [{ filter: 'metadata.subject CONTAINS "x" OR metadata.keywords CONTAINS ["y"]' }, /column 31/],
    [
      { filter: Array(11).fill('metadata.subject CONTAINS ""').join(" AND ") },
      /11 clauses; at most 10/,
    ],
    [{ filter: 'state = "ERROR"' }, /column 1/],
    [{ filter: 'metadata.keywords CONTAINS "x"' }, /column 28/],
    [{ filter: "metadata.keywords CONTAINS []" }, /column 29/],
    [{ filter: `metadata.subject CONTAINS "${"x".repeat(5000)}"` }, /4096/],
    [{ pageSize: "-1" }, /pageSize/],
    [{ pageSize: "many" }, /pageSize/],
    [{ pageToken: "made-up" }, /pageToken/],
    [{ orderBy: "subject" }, /orderBy/],
    [{ ordering: "subject" }, /ordering/],
    [{ "ordering.by": "subject" }, /ordering/],
    [{ "ordering.orderBy": "keywords" }, /ordering.orderBy.*must be one of.*"keywords"/],
    [{ "ordering.orderBy": "subject desc" }, /ordering.orderBy.*must be one of.*"subject desc"/],
    [{ "ordering.direction": "UP" }, /ordering.direction/],
    [{ "ordering.direction": "7" }, /ordering.direction/],
    [{ "ordering.direction": "ascending" }, /ordering.direction/],
  ];
  for (const [query, message] of rows) {
    const { status, json } = await list(query);
    assert.equal(status, 400, JSON.stringify(query));
    assert.match(json.message, message, JSON.stringify(query));
  }
});

test("transcripts are listed in each ordering, in both directions, in pages", async () => {
  const alphabetical = [
    "100 % af_öllu",
    "Annar þingfundur",
    "Fréttir",
    "Viðtal",
    "Þingfundur um ÁLAGNINGU",
  ];
  const rows: [ordering: Record<string, string>, found: string[]][] = [
    [{ "ordering.orderBy": "subject" }, alphabetical.toReversed()],
    [{ "ordering.orderBy": "subject", "ordering.direction": "ASCENDING" }, alphabetical],
    [{ "ordering.order_by": "metadata.subject", "ordering.direction": "2" }, alphabetical],
    [{ "ordering.direction": "ASCENDING" }, subjects],
    [{ "ordering.direction": "DESCENDING" }, subjects.toReversed()],
    [
      { "ordering.orderBy": "version.creationTime", "ordering.direction": "DIRECTION_UNSPECIFIED" },
      subjects.toReversed(),
    ],
  ];
  for (const [ordering, found] of rows) {
    const { json } = await list({ ...ordering, pageSize: "3" });
    const { nextPageToken: pageToken } = json;
    const rest = await list({ ...ordering, pageSize: "3", pageToken });
    assert.deepEqual([...subjectsIn(json), ...subjectsIn(rest.json)], found);
    const other =
      ordering["ordering.orderBy"] === "subject" ? {} : { "ordering.orderBy": "subject" };
    const refused = await list({ ...other, pageSize: "3", pageToken });
    assert.equal(refused.status, 400);
    assert.match(refused.json.message, /pageToken: is not .* with this filter and ordering/);
  }
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  const ordering = { direction: 2, orderBy: "subject" } as const;
  const answer = await client.listTranscripts({ ordering }, { headers });
  assert.deepEqual(
    answer.transcripts.map(({ metadata }) => metadata?.subject),
    alphabetical,
  );
});

test("a page token is refused with a different filter", async () => {
  const filter = 'metadata.keywords CONTAINS ["allt"]';
  const { json } = await list({ filter, pageSize: "1" });
  const pageToken = json.nextPageToken;
  assert.equal((await list({ filter, pageSize: "1", pageToken })).status, 200);
  assert.equal((await list({ pageSize: "1", pageToken })).status, 400);
  const changed = pageToken.slice(0, -2) + (pageToken.endsWith("AA") ? "BB" : "AA");
  assert.equal((await list({ filter, pageSize: "1", pageToken: changed })).status, 400);
});

test("a pageSize over 1000 counts as 1000", async () => {
  const { status, json } = await list({ pageSize: "100000" });
  assert.equal(status, 200);
  assert.equal(json.transcripts.length, subjects.length);
});

test("the path prefix in the heading of the specification is not served, and a token is required", async () => {
  assert.equal((await service.call("GET", "/v1alpha/transcripts")).status, 404);
  assert.equal((await service.call("GET", `${path}/`)).status, 404);
  assert.equal((await callRest(service.address, undefined, { method: "GET", path })).status, 401);
});
