// §4.6: update a transcript; §9: its versions.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { textOf } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

let service: TestService;
let path: string;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("Upphaf"));
  path = `/v1alpha1/${json.name}`;
});

const patch = (body: unknown, headers?: Record<string, string>, query = "") =>
  service.call("PATCH", `${path}${query}`, body, headers);

test("the response is the whole transcript with a new version, whose parent is the previous one", async () => {
  const { json: before } = await service.call("GET", path);
  const { status, json } = await patch({ metadata: { subject: "Nýtt heiti" } });
  assert.equal(status, 200);
  assert.notEqual(json.version.name, before.version.name);
  assert.equal(json.version.parent, before.version.name);
  assert.equal(json.metadata.subject, "Nýtt heiti");
  assert.deepEqual(json.segments, before.segments);
  assert.deepEqual((await service.call("GET", path)).json, json);
});

test("fields that are present are replaced, and all others remain", async () => {
  const segments = [segmentOf("alveg nýtt")];
  const rows: [body: unknown, text: string, metadata: Record<string, unknown>][] = [
    [
      { metadata: { subject: "A" } },
      "góðan dag og velkomin",
      { subject: "A", keywords: ["prufa"] },
    ],
    [{ metadata: { keywords: [] } }, "góðan dag og velkomin", { subject: "A", keywords: [] }],
    [{ segments }, "alveg nýtt", { subject: "A", keywords: [] }],
    [
      { metadata: { dictation: false, description: "lýsing" } },
      "alveg nýtt",
      { subject: "A", dictation: false, description: "lýsing" },
    ],
    [{ metadata: { description: "" } }, "alveg nýtt", { description: "" }],
    [{ segments: [] }, "", { subject: "A" }],
    [
      { segments, metadata: { speakers: { a: speaker("Anna") } } },
      "alveg nýtt",
      { speakers: { a: speaker("Anna") } },
    ],
    [{ metadata: { speakers: {} } }, "alveg nýtt", { speakers: {} }],
  ];
  for (const [body, text, metadata] of rows) {
    const { status, json } = await patch(body);
    assert.equal(status, 200, json.message);
    assert.equal(textOf(json), text);
    for (const [field, value] of Object.entries(metadata)) {
      assert.deepEqual(json.metadata[field], value, `${JSON.stringify(body)} ${field}`);
    }
  }
});

test("a fetched transcript can be edited and sent back as a whole", async () => {
  const { json } = await service.call("GET", path);
  const edited = structuredClone(json);
  edited.segments[0].words[0].word = "gott ";
  edited.uri = "http://elsewhere.example/";
  edited.metadata.originalCharLength = 99;
  const answer = await patch(edited);
  assert.equal(answer.status, 200);
  assert.equal(textOf(answer.json), "gott dag og velkomin");
  assert.equal(answer.json.uri, "");
  assert.equal(answer.json.metadata.originalCharLength, 0);
  assert.equal(answer.json.name, json.name);
});

test("updateMask selects the fields to change", async () => {
  const body = { metadata: { subject: "B", description: "C" }, segments: [] };
  const { json } = await patch(body, {}, "?updateMask=metadata.subject");
  assert.equal(json.metadata.subject, "B");
  assert.equal(json.metadata.description, "");
  assert.equal(textOf(json), "góðan dag og velkomin");
  assert.equal((await patch(body, {}, "?updateMask=metadata.color")).status, 400);
});

test("an empty update and invalid fields are refused", async () => {
  const rows: [body: unknown, message: RegExp][] = [
    [{}, /segments|metadata/],
    [{ name: "transcripts/x" }, /segments|metadata/],
    [{ segments: [{ startTime: "2s", endTime: "1s" }] }, /segments\[0\]/],
    [{ metadata: { languageCode: "" } }, /languageCode/],
    [{ metadata: { subject: 5 } }, /metadata\.subject/],
    [{ title: "x" }, /title/],
  ];
  const { json: before } = await service.call("GET", path);
  for (const [body, message] of rows) {
    const { status, json } = await patch(body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(json.message, message, JSON.stringify(body));
  }
  assert.deepEqual((await service.call("GET", path)).json, before);
  assert.equal(
    (await service.call("PATCH", "/v1alpha1/transcripts/x", { segments: [] })).status,
    404,
  );
});

test("If-Match with a stale version changes nothing (extension)", async () => {
  const { json: first } = await service.call("GET", path);
  const stale = { "if-match": `"${first.version.name}"` };
  const { json: second } = await patch({ metadata: { subject: "ný" } }, stale);
  const { status, json } = await patch({ metadata: { subject: "önnur" } }, stale);
  assert.equal(status, 409);
  assert.equal(json.error.status, "ABORTED");
  assert.match(JSON.stringify(json.details), new RegExp(second.version.name));
  assert.equal((await service.call("GET", path)).json.metadata.subject, "ný");
});

test("concurrent updates form one chain of versions, and none is lost", async () => {
  const fields = ["subject", "description"];
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      patch({ metadata: { [fields[at % 2] ?? ""]: `v${at}` } }),
    ),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  const { json } = await service.call("GET", `${path}/versions`);
  assert.equal(json.versions.length, 11);
  for (const [at, version] of json.versions.entries()) {
    assert.equal(version.parent, json.versions[at + 1]?.name ?? "");
  }
});

test("earlier versions can be read and restored (extension)", async () => {
  const { json: first } = await service.call("GET", path);
  const { json: second } = await patch({ segments: [], metadata: { subject: "tómt" } });
  const old = await service.call("GET", `${path}/versions/${first.version.name}`);
  assert.equal(old.status, 200);
  assert.equal(textOf(old.json), "góðan dag og velkomin");
  assert.equal(old.json.metadata.subject, "Upphaf");
  const restored = await service.call("POST", `${path}:restore`, { version: first.version.name });
  assert.equal(restored.status, 200);
  assert.equal(restored.json.version.parent, second.version.name);
  assert.equal(textOf(restored.json), "góðan dag og velkomin");
  assert.equal((await service.call("POST", `${path}:restore`, { version: "x" })).status, 404);
});

test("a deleted transcript returns 404 (extension)", async () => {
  const { status, json } = await service.call("DELETE", path);
  assert.equal(status, 200);
  assert.deepEqual(json, {});
  for (const method of ["GET", "DELETE"])
    assert.equal((await service.call(method, path)).status, 404);
  assert.equal((await patch({ segments: [] })).status, 404);
});
