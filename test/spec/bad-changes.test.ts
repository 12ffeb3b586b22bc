// ModifySegments with wrong values, a stale version, or too much: nothing is stored.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { longSegments } from "../fixtures/long-transcript.ts";
import { ChangeCalls, five } from "./changes.ts";
import { fieldsOf } from "./jobs.ts";
import { openStoredService } from "./stored-service.ts";
import { segmentOf } from "./transcripts.ts";

const stored = await openStoredService();
const { service } = stored;
const calls = new ChangeCalls(service, stored.db);
after(() => stored[Symbol.asyncDispose]());

test("wrong values are refused by name, and nothing is stored", async () => {
  const made = await calls.create(five);
  const { json: before } = await service.call("GET", made.path);
  const at = (startIndex: unknown, endIndex: unknown, segments: unknown[] = []) => {
    return { startIndex, endIndex, segments };
  };
  const ok = segmentOf("já ", 20);
  const [word] = ok.words;
  const rows: [body: object, field: string, words: RegExp][] = [
    [{}, "changes", /or metadata is required/],
    [{ changes: [], note: "a" }, "changes", /or metadata is required/],
    [{ metadata: {} }, "changes", /a field of metadata/],
    [{ metadata: { waveformUri: "x" } }, "changes", /a field of metadata/],
    [{ metadata: { languageCode: "!" } }, "metadata.languageCode", /BCP 47/],
    [{ changes: [at(-1, 1)] }, "changes[0].startIndex", /negative, not -1/],
    [{ changes: [at(0, -1)] }, "changes[0].endIndex", /is -1, before its startIndex 0/],
    [{ changes: [at(2, 1)] }, "changes[0].endIndex", /is 1, before its startIndex 2/],
    [{ changes: [at(0, 2), at(1, 3)] }, "changes[1].startIndex", /is 1, before the end .*, 2/],
    [{ changes: [at(3, 4), at(0, 1)] }, "changes[1].startIndex", /is 0, before the end .*, 4/],
    [{ changes: [at(0, 1), at(2, 6)] }, "changes[1].endIndex", /is 6; the version has 5 segments/],
    [{ changes: [at(6, 7)] }, "changes[0].startIndex", /is 6; the version has 5 segments/],
    [{ changes: [at(2 ** 31, 0)] }, "changes[0].startIndex", /2147483648/],
    [{ changes: [at("NaN", 1)] }, "changes[0].startIndex", /NaN/],
    [{ changes: [at(0.5, 1)] }, "changes[0].startIndex", /0\.5/],
    [{ changes: [at(0, true)] }, "changes[0].endIndex", /true/],
    [{ changes: [{ ...at(0, 1), start: 1 }] }, "changes[0].start", /no such field/],
    [{ changes: {} }, "changes", /list|array/],
    [
      { changes: [at(2, 3, [{ ...ok, endTime: "1s" }])] },
      "changes[0].segments[0].endTime",
      /before/,
    ],
    [{ changes: [at(2, 3, [segmentOf("a", 9)])] }, "changes[0].segments[0].startTime", /previous/],
    [{ changes: [at(2, 3, [segmentOf("a", 31)])] }, "changes[0].segments[0].startTime", /the next/],
    [
      { changes: [at(2, 2, [ok]), at(2, 3), at(4, 4, [ok])] },
      "changes[2].segments[0].startTime",
      /before that of the previous/,
    ],
    [
      { changes: [at(1, 1, [segmentOf("a", 30.5)]), at(1, 3)] },
      "changes[0].segments[0].startTime",
      /after that of the next/,
    ],
    [
      { changes: [at(1, 1, [segmentOf("a", 15)]), at(1, 2, [segmentOf("b", 12)])] },
      "changes[1].segments[0].startTime",
      /before that of the previous/,
    ],
    [
      {
        changes: [
          at(0, 0),
          at(1, 1),
          at(2, 3, [{ ...ok, words: [word, { ...word, word: "a\u0007" }] }]),
        ],
      },
      "changes[2].segments[0].words[1].word",
      /control character/,
    ],
    [
      { changes: [at(2, 3, [{ ...ok, words: [{ ...word, word: "ð".repeat(1_001) }] }])] },
      "changes[0].segments[0].words[0].word",
      /1001 characters; at most 1000/,
    ],
    [
      { changes: Array.from({ length: 20_001 }, () => at(5, 5)) },
      "changes",
      /20001 changes|more than 20000 changes/,
    ],
    [{ changes: [at(0, 1)], note: "a".repeat(1_001) }, "note", /at most 1000/],
    [{ changes: [at(5, 5, longSegments(400_020))] }, "changes", /20001 segments/],
    [
      { changes: [at(5, 5, [{ ...ok, words: Array.from({ length: 200_001 }, () => word) }])] },
      "changes",
      /200001 words in total; at most 200000/,
    ],
  ];
  for (const [body, field, words] of rows) {
    const answer = await calls.modify(made, body);
    const shown = `${JSON.stringify(body).slice(0, 200)}: ${JSON.stringify(answer.json).slice(0, 500)}`;
    assert.equal(answer.status, 400, shown);
    assert.ok(fieldsOf(answer).includes(field), shown);
    assert.match(JSON.stringify(answer.json), words, shown);
  }
  const changes = [at(0, 1)];
  const headers: [headers: Record<string, string>, words: RegExp][] = [
    [{}, /is required/],
    [{ "if-match": "*" }, /the id of one version/],
    [{ "if-match": "" }, /the id of one version/],
    [{ "if-match": `${made.version}, ${made.version}` }, /the id of one version/],
  ];
  for (const [header, words] of headers) {
    const answer = await service.call("POST", `${made.path}:modifySegments`, { changes }, header);
    assert.equal(answer.status, 400, JSON.stringify(header));
    assert.deepEqual(fieldsOf(answer), ["If-Match"]);
    assert.match(JSON.stringify(answer.json), words);
  }
  const absent = { ...made, path: "/v1alpha1/transcripts/0190a0a0-0000-7000-8000-000000000000" };
  assert.equal((await calls.modify(absent, { changes })).status, 404);
  assert.deepEqual((await service.call("GET", made.path)).json, before);
  await calls.delete(made);
});

test("a version that is not the current one is stale, and the answer names the current one", async () => {
  const made = await calls.create(five);
  const body = { changes: [{ startIndex: 0, endIndex: 1 }] };
  const { json } = await calls.modify(made, body);
  const now = json.version.name;
  for (const version of [made.version, `W/"${now}"`, "rangt"]) {
    for (const sent of [body, { metadata: { subject: "x" } }]) {
      const { status, json } = await calls.modify({ ...made, version }, sent);
      assert.equal(status, 409, version);
      assert.equal(json.error.status, "ABORTED");
      const [info] = json.details;
      assert.deepEqual([info.reason, info.metadata], ["VERSION_STALE", { currentVersion: now }]);
    }
  }
  const quoted = { ...made, version: `"${now}"` };
  assert.equal((await calls.modify(quoted, body)).status, 200);
  await calls.delete(made);
});

test("the limits are those of the result", async () => {
  const most = longSegments(200_000);
  const made = await calls.create(most);
  const word = segmentOf("já ", 0);
  const insert = [{ startIndex: 0, endIndex: 0, segments: [word] }];
  const over = await calls.modify(made, { changes: insert });
  assert.equal(over.status, 400);
  assert.match(JSON.stringify(over.json), /200001 words in the result; at most 200000/);
  const replace = [{ startIndex: 0, endIndex: 1, segments: [word] }];
  assert.equal((await calls.modify(made, { changes: replace })).status, 200);
  const times = { startTime: "0s", endTime: "0s" };
  const full = await calls.create(Array.from({ length: 20_000 }, () => ({ ...times, words: [] })));
  const empty = { ...times, words: [] };
  const more = await calls.modify(full, {
    changes: [{ startIndex: 0, endIndex: 0, segments: [empty] }],
  });
  assert.equal(more.status, 400);
  assert.match(JSON.stringify(more.json), /20001 segments in the result; at most 20000/);
  await calls.delete(made, full);
});
