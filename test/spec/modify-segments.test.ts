// ModifySegments (extension): ranges of segments are replaced, and the others keep their bytes.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import {
  ModifySegmentsRequestSchema,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { ChangeCalls, changed, five, type Segment } from "./changes.ts";
import { fieldsOf } from "./jobs.ts";
import { openStoredService } from "./stored-service.ts";
import { segmentOf } from "./transcripts.ts";

const stored = await openStoredService();
const { service } = stored;
const calls = new ChangeCalls(service, stored.db);
after(() => stored[Symbol.asyncDispose]());

test("the segments of several ranges, and metadata, are one version; the others keep their bytes", async () => {
  const made = await calls.create(five);
  const changes = [
    { startIndex: 0, endIndex: 0, segments: [segmentOf("núll ")] },
    { startIndex: 1, endIndex: 3, segments: [{ ...segmentOf('2 "og" 3\\ ', 10), speakerId: "1" }] },
    { startIndex: 4, endIndex: 5, segments: [] },
  ];
  const metadata = { speakers: { 1: { fullName: "Jón" } } };
  const { status, json } = await calls.modify(made, {
    changes,
    metadata,
    note: "Lesið",
    merged: true,
  });
  assert.equal(status, 200);
  assert.deepEqual(json.segments, []);
  assert.equal(json.version.parent, made.version);
  assert.deepEqual([json.version.kind, json.version.note], ["MERGED", "Lesið"]);
  assert.match(json.version.author, /^apiKeys\//);
  assert.equal(json.metadata.speakers[1].fullName, "Jón");
  assert.equal(json.metadata.subject, "Fundur");
  const { json: read } = await service.call("GET", made.path);
  assert.deepEqual(read.version, json.version);
  assert.deepEqual(
    read.segments.map(({ words }: Segment) => words.map(({ word }) => word).join("")),
    ["núll ", "einn ", '2 "og" 3\\ ', "fjórir "],
  );
  const twin = await calls.create(changed(five, changes));
  assert.equal(await calls.hashOf(json.version.name), await calls.hashOf(twin.version));
  const { json: list } = await service.call("GET", `${made.path}/versions`);
  assert.equal(list.versions.length, 2);
  await calls.delete(made);
});

test("changes make the same bytes as an update with all segments, whatever they are", async () => {
  const words = fc.constantFrom(
    "já ",
    "",
    '"speakerId":"',
    "\\",
    "}],",
    'a","speakerId":"x"}',
    "𝒜",
  );
  const speaker = fc.constantFrom("", "1", '"', "\\", "þ");
  const segment = fc
    .record({ word: words, count: fc.nat({ max: 2 }), speakerId: speaker })
    .map(({ word, count, speakerId }) => ({
      // All segments begin at the same time, so that any order is valid.
      startTime: "1.5s",
      endTime: "2s",
      words: Array.from({ length: count }, (_, at) => ({
        startTime: "1.5s",
        endTime: "2s",
        word,
        ...(at > 0 && { confidence: 0.25 }),
      })),
      speakerId,
    }));
  const segments = fc.array(segment, { maxLength: 6 });
  const cases = segments.chain((base) => {
    const cuts = fc.array(fc.nat({ max: base.length }), { minLength: 2, maxLength: 6 });
    const ranges = cuts.map((cuts) => {
      const sorted = cuts.toSorted((a, b) => a - b);
      return sorted.slice(0, sorted.length & ~1);
    });
    return fc.tuple(fc.constant(base), ranges, fc.array(segments, { minLength: 3, maxLength: 3 }));
  });
  await fc.assert(
    fc.asyncProperty(cases, async ([base, cuts, fresh]) => {
      const changes = Array.from({ length: cuts.length / 2 }, (_, at) => ({
        startIndex: cuts[2 * at] ?? 0,
        endIndex: cuts[2 * at + 1] ?? 0,
        segments: fresh[at] ?? [],
      }));
      const [made, twin] = [await calls.create(base), await calls.create(changed(base, changes))];
      const { status, json } = await calls.modify(made, { changes });
      assert.equal(status, 200, JSON.stringify(json));
      assert.equal(await calls.hashOf(json.version.name), await calls.hashOf(twin.version));
      await calls.delete(made, twin);
    }),
    { numRuns: 60 },
  );
});

test("what is so already makes no version", async () => {
  const made = await calls.create(five);
  const same = [{ startIndex: 1, endIndex: 2, segments: five.slice(1, 2) }];
  const rows: object[] = [
    { changes: same, note: "ekkert" },
    { changes: same, metadata: { subject: "Fundur" } },
    { metadata: { subject: "Fundur", keywords: ["prufa"] } },
    { changes: [{ startIndex: 3, endIndex: 3 }] },
  ];
  for (const body of rows) {
    const { status, json } = await calls.modify(made, body);
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(json.version.name, made.version, JSON.stringify(body));
  }
  assert.equal((await service.call("GET", `${made.path}/versions`)).json.versions.length, 1);
  const { json } = await calls.modify(made, { changes: same, metadata: { subject: "Annar" } });
  assert.equal(json.version.parent, made.version);
  assert.equal(await calls.hashOf(json.version.name), await calls.hashOf(made.version));
  const filter = encodeURIComponent('metadata.subject CONTAINS "annar"');
  const { json: found } = await service.call("GET", `/v1alpha1/transcripts?filter=${filter}`);
  assert.deepEqual([`/v1alpha1/${found.transcripts[0].name}`], [made.path]);
  await calls.delete(made);
});

test("two clients race, and each version has exactly one winner; nothing is lost", async () => {
  const made = await calls.create(five);
  const rounds = 15;
  const client = async (name: string): Promise<number> => {
    let stale = 0;
    for (let done = 0; done < rounds;) {
      const { json } = await service.call("GET", made.path);
      const [{ words }] = json.segments;
      // The first segment gets one more word, which names its author.
      const segments = [{ ...json.segments[0], words: [...words, { ...words[0], word: name }] }];
      const changes = [{ startIndex: 0, endIndex: 1, segments }];
      const { status } = await calls.modify({ ...made, version: json.version.name }, { changes });
      assert.ok(status === 200 || status === 409, `${status}`);
      if (status === 200) done += 1;
      else stale += 1;
    }
    return stale;
  };
  const stale = await Promise.all([client("a"), client("b")]);
  assert.ok(stale[0] + stale[1] > 0, "the clients did not meet");
  const { json } = await service.call("GET", made.path);
  const text = json.segments[0].words.map(({ word }: { word: string }) => word).join("");
  assert.equal(text.length, "einn ".length + 2 * rounds);
  for (const name of ["a", "b"]) assert.equal(text.split(name).length - 1, rounds, text);
  const { json: list } = await service.call("GET", `${made.path}/versions?pageSize=100`);
  const parents = list.versions.map(({ parent }: { parent: string }) => parent);
  assert.equal(new Set(parents).size, 2 * rounds + 1);
  await calls.delete(made);
});

test("eight hours are changed by short and by long changes, in any form", async () => {
  const all = longSegments(72_000);
  const made = await calls.create(all);
  const middle = { ...segmentOf("breytt ", 18_000), speakerId: "2" };
  const one = [{ startIndex: 1_800, endIndex: 1_801, segments: [middle] }];
  const { json } = await calls.modify(made, { changes: one });
  const twin = await calls.create(changed(all, one));
  assert.equal(await calls.hashOf(json.version.name), await calls.hashOf(twin.version));
  // Every second segment, as after a replacement of a common word.
  const many = Array.from({ length: 1_800 }, (_, at) => {
    return {
      startIndex: 2 * at,
      endIndex: 2 * at + 1,
      segments: [{ ...segmentOf("b ", 20 * at) }],
    };
  });
  const result = await calls.create(changed(changed(all, one), many));
  const forms: object[] = [
    { changes: many },
    { changes: many.map(({ startIndex, ...rest }) => ({ start_index: startIndex, ...rest })) },
  ];
  for (const form of forms) {
    const current = { path: made.path, version: await calls.versionOf(made.path) };
    const { status, json } = await calls.modify(current, form);
    assert.equal(status, 200);
    assert.equal(await calls.hashOf(json.version.name), await calls.hashOf(result.version));
  }
  const last = many.map((change, at) => (at === 1_700 ? { ...change, endIndex: 1 } : change));
  const refused = await calls.modify(
    { path: made.path, version: await calls.versionOf(made.path) },
    { changes: last },
  );
  assert.equal(refused.status, 400);
  assert.deepEqual(fieldsOf(refused), ["changes[1700].endIndex"]);
  await calls.delete(made, twin, result);
});

test("gRPC has the same method", async () => {
  const made = await calls.create(five);
  const transport = createGrpcTransport({ baseUrl: service.address });
  const grpc = createClient(Transcripts, transport);
  const name = made.path.slice("/v1alpha1/".length);
  const headers = { authorization: `Bearer ${service.key}` };
  const changes = [{ startIndex: 4, endIndex: 5 }];
  const missing = await connectFailure(grpc.modifySegments({ name, changes }, { headers }));
  assert.equal(missing.code, Code.InvalidArgument);
  const own = { ...headers, "if-match": made.version };
  const answer = await grpc.modifySegments({ name, changes }, { headers: own });
  assert.equal(answer.segments.length, 0);
  assert.equal(answer.version?.parent, made.version);
  const stale = await connectFailure(grpc.modifySegments({ name, changes }, { headers: own }));
  assert.equal(stale.code, Code.Aborted);
  // Long changes are read on a thread.
  const long = [{ startIndex: 0, endIndex: 4, segments: longSegments(6_000) }];
  const request = fromJson(ModifySegmentsRequestSchema, { name, changes: long });
  const current = { ...headers, "if-match": answer.version?.name ?? "" };
  const { version } = await grpc.modifySegments(request, { headers: current });
  const twin = await calls.create(longSegments(6_000));
  assert.equal(await calls.hashOf(version?.name ?? ""), await calls.hashOf(twin.version));
  await calls.delete(made, twin);
});
