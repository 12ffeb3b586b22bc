// Invalid transcripts sent over real connections: each is refused with a reason, and nothing from
// it is stored.
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { scopes } from "../../src/auth/caller.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { RawConnection } from "../fixtures/raw-http.ts";
import { fieldsOf } from "./jobs.ts";
import { callRest, type Answer } from "./service.ts";
import { openStoredService } from "./stored-service.ts";
import { draftOf } from "./transcripts.ts";

const path = "/v1alpha1/transcripts";
const absentId = "0190a0a0-0000-7000-8000-000000000000";
const stored = await openStoredService();
const { service, db, name, withTranscript, initUpload } = stored;
/** A key of another account. */
const otherKey = (await addApiKey(db, await addAccount(db), [...scopes])).token;
after(() => stored[Symbol.asyncDispose]());
afterEach(stored.assertUnchanged);

/** Sends a body as a creation and as an update. */
async function sendBoth(body: object): Promise<Answer[]> {
  const created = { ...draftOf("Slæm"), ...body };
  return [
    await service.call("POST", path, created),
    await service.call("PATCH", `/v1alpha1/${name}`, body),
  ];
}

test("times that are malformed, out of order or outside their segment are refused", async () => {
  const word = { startTime: "1s", endTime: "1.5s", word: "já" };
  const segment = { startTime: "1s", endTime: "2s", words: [word] };
  const withWord = (times: object) => [{ ...segment, words: [{ ...word, ...times }] }];
  const at = "segments[0].words[0]";
  const rows: [segments: unknown[], field: string, words: RegExp][] = [
    [[{ ...segment, endTime: "0.5s" }], "segments[0].endTime", /is before its startTime/],
    [[segment, { ...segment, startTime: "0s" }], "segments[1].startTime", /the previous segment/],
    [withWord({ startTime: "1.6s" }), `${at}.endTime`, /is before its startTime/],
    [withWord({ startTime: "0.999999999s" }), `${at}.startTime`, /before the start of its segment/],
    [withWord({ endTime: "2.000000001s" }), `${at}.endTime`, /after the end of its segment/],
    [
      [{ ...segment, words: [{ ...word, startTime: "1.2s" }, word] }],
      "segments[0].words[1].startTime",
      /the previous word/,
    ],
    [withWord({ startTime: "-1s" }), `${at}.startTime`, /negative/],
    [withWord({ startTime: "-0.000000001s" }), `${at}.startTime`, /negative/],
    [withWord({ endTime: "3600000.000000001s" }), `${at}.endTime`, /1000 hours/],
    [
      withWord({ endTime: "9223372036854775807s" }),
      `${at}.endTime`,
      /a duration from .*9223372036/,
    ],
    [withWord({ endTime: "99999999999999999999s" }), `${at}.endTime`, /duration.*99999999/],
    [withWord({ endTime: "1e9s" }), `${at}.endTime`, /duration.*1e9s/],
    [withWord({ endTime: "NaN" }), `${at}.endTime`, /duration.*NaN/],
    [withWord({ endTime: "Infinitys" }), `${at}.endTime`, /duration.*Infinitys/],
    [withWord({ endTime: "1.5" }), `${at}.endTime`, /duration.*1\.5/],
    [withWord({ endTime: 1.5 }), `${at}.endTime`, /duration.*1\.5/],
    [withWord({ endTime: "1.0000000001s" }), `${at}.endTime`, /duration.*1\.0000000001s/],
    [withWord({ endTime: " 1.5s" }), `${at}.endTime`, /duration.* 1\.5s/],
    [withWord({ endTime: "0x2s" }), `${at}.endTime`, /duration.*0x2s/],
    [withWord({ endTime: { seconds: 1, nanos: 1e9 } }), `${at}.endTime`, /duration/],
    [withWord({ endTime: null }), `${at}.endTime`, /is required/],
  ];
  for (const [segments, field, words] of rows) {
    for (const answer of await sendBoth({ segments })) {
      assert.equal(answer.status, 400, JSON.stringify(segments));
      assert.deepEqual(fieldsOf(answer), [field]);
      assert.ok(answer.json.message.startsWith(`${field}: `), answer.json.message);
      assert.match(answer.json.message, words);
    }
  }
});

test("words with control characters or unpaired surrogates are refused", async () => {
  const times = { startTime: "0s", endTime: "1s" };
  const withWords = (...words: string[]) => ({
    segments: [{ ...times, words: words.map((word) => ({ ...times, word })) }],
  });
  for (const char of ["\0", "\u0001", "\r", "\u001b", "\u007f", "\u0085", "\u009f"]) {
    for (const answer of await sendBoth(withWords("já ", `n${char}ei`))) {
      assert.equal(answer.status, 400, JSON.stringify(char));
      assert.deepEqual(fieldsOf(answer), ["segments[0].words[1].word"]);
      assert.match(answer.json.message, /has a control character; only tab and newline are/);
    }
  }
  for (const answer of await sendBoth(withWords("\ud83d"))) {
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, /segments\[0\]\.words\[0\]\.word: |surrogate|Unicode/);
  }
  await withTranscript(async (name) => {
    const words = ["tab\t", "lína\n", "\u200f\u{1f442} "];
    const { status, json } = await service.call("PATCH", `/v1alpha1/${name}`, withWords(...words));
    assert.equal(status, 200, json.message);
    const kept = json.segments[0].words.map(({ word }: { word: string }) => word);
    assert.deepEqual(kept, words);
  });
});

test("texts and lists over their limits are refused", async () => {
  const long = "x".repeat(1_000_000);
  const many = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
  const map = (count: number, value: unknown) =>
    Object.fromEntries(many(count).map((key) => [key, value]));
  const times = { startTime: "0s", endTime: "1s" };
  const rows: [metadata: object, field: string, words: RegExp][] = [
    [{ subject: long }, "metadata.subject", /has 1000000 characters; at most 1000/],
    [{ description: long }, "metadata.description", /has 1000000 characters; at most 10000/],
    [{ keywords: many(5_000) }, "metadata.keywords", /has 5000 keywords; at most 100/],
    [{ keywords: [long] }, "metadata.keywords[0]", /has 1000000 characters; at most 100/],
    [{ additionalMetadata: map(101, "") }, "metadata.additionalMetadata", /has 101 .* at most 100/],
    [{ additionalMetadata: { k: long } }, 'metadata.additionalMetadata["k"]', /at most 2000/],
    [{ speakers: map(1001, {}) }, "metadata.speakers", /has 1001 speakers; at most 1000/],
    [{ speakers: { a: { fullName: long } } }, 'metadata.speakers["a"].fullName', /at most 1000/],
    [{ languageCode: long }, "metadata.languageCode", /BCP 47/],
  ];
  for (const [fields, field, words] of rows) {
    const metadata = { ...draftOf("Slæm").metadata, ...fields };
    // A creation contains all of the metadata, which can also be too long as a whole. For an
    // update, the total is checked only once the fields are valid.
    const isLong = JSON.stringify(metadata).length > 65_536;
    for (const [at, answer] of (await sendBoth({ metadata })).entries()) {
      assert.equal(answer.status, 400, field);
      assert.deepEqual(fieldsOf(answer), isLong && at === 0 ? ["metadata", field] : [field]);
      assert.match(answer.json.message, words);
      assert.ok(answer.json.message.length < 300, "a long value is not sent back");
    }
  }
  for (const answer of await sendBoth({
    segments: [{ ...times, words: [{ ...times, word: "x".repeat(1001) }] }],
  })) {
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, /segments\[0\]\.words\[0\]\.word: has 1001 .* at most 1000/);
  }
});

test("a body with too many words is refused with the limit, and a body that is too large is not read to its end", async () => {
  const word = '{"startTime":"0s","endTime":"0s","word":""}';
  const words = Array.from({ length: 200_001 }, () => word).join();
  const segments = `[{"startTime":"0s","endTime":"1s","words":[${words}]}]`;
  const answer = await service.call("PATCH", `/v1alpha1/${name}`, `{"segments":${segments}}`);
  assert.equal(answer.status, 400);
  assert.match(answer.json.message, /segments: has 200001 words in total; at most 200000/);

  // Ten million words are 430 MB, which are generated while they are sent.
  const block = Buffer.from(`${word},`.repeat(10_000));
  for (const method of ["POST", "PATCH"]) {
    const target = method === "POST" ? path : `/v1alpha1/${name}`;
    const head = `${method} ${target} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${service.key}\r\n`;
    await using announced = await RawConnection.open(service.address);
    announced.send(Buffer.from(`${head}content-length: ${block.length * 1000}\r\n\r\n`));
    const refused = await announced.answer();
    assert.ok(refused);
    assert.equal(refused.status, 413, "before a byte of it is sent");
    assert.match(refused.body.toString(), /33554432|32 MiB/);

    let sentBytes = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sentBytes >= block.length * 1000) controller.close();
        else controller.enqueue(block);
        sentBytes += block.length;
      },
    });
    const headers = { authorization: `Bearer ${service.key}` };
    const init: RequestInit = { method, body, duplex: "half", headers };
    const streamed = await fetch(`${service.address}${target}`, init).catch(() => undefined);
    // The connection can break while the rest is being sent, before the answer is read.
    assert.ok(streamed === undefined || streamed.status === 413, `${streamed?.status}`);
    await streamed?.body?.cancel();
    assert.ok(sentBytes < 200e6, `${sentBytes} bytes were read`);
  }
});

test("names of another account get the same response as names that do not exist", async () => {
  const call = (method: string, target: string, body?: unknown) =>
    callRest(service.address, otherKey, { method, path: target, body });
  const { version } = (await service.call("GET", `/v1alpha1/${name}`)).json;
  const subject = { metadata: { subject: "stolið" } };
  const rows = (name: string, version: string): [string, string, unknown?][] => [
    ["GET", `/v1alpha1/${name}`],
    ["PATCH", `/v1alpha1/${name}`, subject],
    ["PATCH", `/v1alpha1/${name}?updateMask=segments`, {}],
    ["DELETE", `/v1alpha1/${name}`],
    ["GET", `/v1alpha1/${name}/versions`],
    ["GET", `/v1alpha1/${name}/versions/${version}`],
    ["POST", `/v1alpha1/${name}:restore`, { version }],
    ["POST", "/v1alpha1/initupload", { resourceName: name }],
  ];
  const mine = rows(name, version.name);
  const absent = rows(`transcripts/${absentId}`, absentId);
  for (const [at, [method, target, body]] of mine.entries()) {
    const foreign = await call(method, target, body);
    assert.equal(foreign.status, 404, `${method} ${target}`);
    const [, absentTarget = "", absentBody] = absent[at] ?? [];
    const none = await call(method, absentTarget, absentBody);
    const blank = ({ json }: Answer) =>
      JSON.stringify(json)
        .replaceAll(name.slice("transcripts/".length), absentId)
        .replaceAll(version.name, absentId);
    assert.equal(blank(foreign), blank(none), "the answers do not show which names exist");
  }
  for (const bad of [
    "transcripts/x",
    "transcripts/",
    "x",
    "../transcripts",
    `uploads/${absentId}`,
  ]) {
    const { status } = await service.call("POST", "/v1alpha1/initupload", { resourceName: bad });
    assert.ok(status === 400 || status === 404, `${bad}: ${status}`);
  }
});

test("version names of another transcript or account, and malformed ones, are refused", async () => {
  await withTranscript(async (other) => {
    const { version } = (await service.call("GET", `/v1alpha1/${other}`)).json;
    const foreign = await callRest(service.address, otherKey, {
      method: "POST",
      path,
      body: draftOf("Annarra"),
    });
    const theirs = `/v1alpha1/${foreign.json.name}`;
    const get = { method: "GET", path: theirs };
    const { version: foreignVersion } = (await callRest(service.address, otherKey, get)).json;
    for (const id of [version.name, foreignVersion.name, absentId, "x", "", "%2e%2e", "null"]) {
      const read = await service.call("GET", `/v1alpha1/${name}/versions/${id}`);
      assert.equal(read.status, 404, id);
      if (id !== "") {
        const queried = await service.call("GET", `/v1alpha1/${name}?version=${id}`);
        assert.deepEqual(
          [queried.status, queried.json.details[0].reason],
          [404, "VERSION_NOT_FOUND"],
        );
      }
      const restored = await service.call("POST", `/v1alpha1/${name}:restore`, { version: id });
      assert.ok([400, 404].includes(restored.status), `${id}: ${restored.status}`);
    }
    assert.equal((await service.call("POST", `/v1alpha1/${name}:restore`, {})).status, 404);
    for (const header of [version.name, absentId, "x", '""', `W/"${version.name}"`]) {
      const body = { metadata: { subject: "x" } };
      const stale = await service.call("PATCH", `/v1alpha1/${name}`, body, { "if-match": header });
      assert.equal(stale.status, 409, header);
      assert.match(stale.json.message, /its current version is [0-9a-f-]{36}/);
    }
    await callRest(service.address, otherKey, { method: "DELETE", path: theirs });
  });
});

test("page tokens of another account, list or filter are refused", async () => {
  await withTranscript(async (other) => {
    await service.call("PATCH", `/v1alpha1/${other}`, { segments: [] });
    const filter = 'metadata.keywords CONTAINS ["prufa"]';
    const query = (all: Record<string, string>) => `?${new URLSearchParams(all).toString()}`;
    const tokenOf = async (target: string, more: Record<string, string> = {}): Promise<string> => {
      const { json } = await service.call("GET", `${target}${query({ pageSize: "1", ...more })}`);
      assert.notEqual(json.nextPageToken, "");
      return json.nextPageToken;
    };
    const versions = `/v1alpha1/${other}/versions`;
    const [plain, filtered] = [await tokenOf(path), await tokenOf(path, { filter })];
    const ofVersions = await tokenOf(versions);
    const rows: [target: string, token: string, more?: Record<string, string>][] = [
      [path, filtered],
      [path, plain, { filter }],
      [path, filtered, { filter: filter.replace(" CONTAINS", "  CONTAINS") }],
      [path, ofVersions],
      [versions, plain],
      [`/v1alpha1/${name}/versions`, ofVersions],
      [path, `${plain}A`],
      [path, plain.slice(1)],
      [path, "x".repeat(1025)],
    ];
    for (const [target, pageToken, more = {}] of rows) {
      const answer = await service.call("GET", `${target}${query({ pageToken, ...more })}`);
      assert.equal(answer.status, 400, `${target} ${pageToken}`);
      assert.deepEqual(fieldsOf(answer), ["pageToken"]);
      assert.match(answer.json.message, /is not a nextPageToken of this list with this filter/);
    }
    const call = { method: "GET", path: `${path}${query({ pageToken: plain })}` };
    assert.equal((await callRest(service.address, otherKey, call)).status, 400);
  });
});

test("maps with keys of Object.prototype are stored as data or refused, and never change prototypes", async () => {
  const metadata = (json: string) =>
    `{"metadata":{"fileType":"AUDIO","languageCode":"is-IS","subject":"x",${json}}}`;
  const keys = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
  const values = keys.map((key) => `"${key}":"x"`).join();
  const speakers = keys.map((key) => `"${key}":{"fullName":"y"}`).join();
  await withTranscript(async (name) => {
    const body = metadata(`"additionalMetadata":{${values}},"speakers":{${speakers}}`);
    const { status, json } = await service.call("PATCH", `/v1alpha1/${name}`, body);
    assert.equal(status, 200, json.message);
    const kept = Object.keys(json.metadata.additionalMetadata);
    assert.deepEqual(kept.toSorted(), keys.toSorted());
    assert.deepEqual(new Set(Object.values(json.metadata.additionalMetadata)), new Set(["x"]));
    assert.deepEqual(Object.keys(json.metadata.speakers).toSorted(), keys.toSorted());
    assert.deepEqual((await service.call("GET", `/v1alpha1/${name}`)).json, json);
    const { json: list } = await service.call("GET", path);
    assert.deepEqual(list.transcripts[0].metadata, json.metadata);
  });
  const refused = [
    metadata('"__proto__":{"subject":"y"}'),
    metadata('"constructor":{"prototype":{"x":1}}'),
    metadata('"additionalMetadata":{"__proto__":{"polluted":"x"}}'),
    metadata('"speakers":{"__proto__":{"polluted":"x"}}'),
    metadata('"speakers":{"a":{"__proto__":{"fullName":"x"}}}'),
    '{"__proto__":{"metadata":{}},"segments":[]}',
    '{"segments":[{"startTime":"0s","endTime":"1s","__proto__":{"words":[]}}]}',
  ];
  for (const body of refused) {
    for (const [method, target] of [
      ["POST", path],
      ["PATCH", `/v1alpha1/${name}`],
    ] as const) {
      const answer = await service.call(method, target, body);
      assert.equal(answer.status, 400, body);
      assert.match(answer.json.message, /__proto__|constructor|polluted/);
    }
  }
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Reflect.get({}, "x"), undefined);
});

test("a deleted transcript accepts no changes", async () => {
  const { json } = await service.call("POST", path, draftOf("Horfin"));
  const target = `/v1alpha1/${json.name}`;
  const { version } = (await service.call("GET", target)).json;
  const [used, open] = [await initUpload(json.name), await initUpload(json.name)];
  assert.equal((await fetch(used, { method: "PUT", body: "bytes" })).status, 200);
  const { uri } = (await service.call("GET", target)).json;
  assert.equal((await service.call("DELETE", target)).status, 200);
  const rows: [method: string, target: string, body?: unknown][] = [
    ["GET", target],
    ["PATCH", target, { metadata: { subject: "x" } }],
    ["PATCH", target, { segments: [] }],
    ["DELETE", target],
    ["GET", `${target}/versions`],
    ["GET", `${target}/versions/${version.name}`],
    ["POST", `${target}:restore`, { version: version.name }],
    ["POST", "/v1alpha1/initupload", { resourceName: json.name }],
  ];
  for (const [method, where, body] of rows) {
    const answer = await service.call(method, where, body);
    assert.equal(answer.status, 404, `${method} ${where}`);
    assert.match(answer.json.message, /there is no (transcript|version) "/);
  }
  for (const url of [used, open]) {
    const answer = await fetch(url, { method: "PUT", body: "bytes" });
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /the upload does not exist/);
  }
  for (const method of ["GET", "HEAD"]) assert.equal((await fetch(uri, { method })).status, 404);
});
