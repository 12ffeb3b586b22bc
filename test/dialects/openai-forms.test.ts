// The forms that clients of OpenAI's protocol send, right and wrong.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { encode } from "../fixtures/encoded-audio.ts";
import { noise } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import {
  bearer,
  field,
  fileOf,
  openDialectService,
  recordingBytesMax,
  shortSpeech,
  shortText,
  type DialectService,
  type SendOptions,
} from "./dialect-service.ts";
import { formBody, type FormPart } from "./form-body.ts";

let dialects: DialectService;
let short: Buffer;

before(async () => {
  dialects = await openDialectService();
  short = shortSpeech();
});
after(() => dialects[Symbol.asyncDispose]());

describe("what real clients send is understood", () => {
  const basic = (user: string, password: string) =>
    `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const rows: readonly [
    who: string,
    parts: () => readonly FormPart[],
    options?: () => SendOptions,
  ][] = [
    [
      "Subtitle Edit: the file is the last part",
      () => [field("model", "whisper-1"), fileOf(short)],
    ],
    [
      "Open WebUI: its headers, language before the file",
      () => [field("language", "is"), fileOf(short)],
    ],
    ["LibreChat: a language of two letters", () => [fileOf(short), field("language", "IS")]],
    ["AI SDK: an English name", () => [fileOf(short), field("language", "Icelandic")]],
    ["LiveKit: languages[]", () => [fileOf(short), field("languages[]", "is")]],
    [
      "keywords as a list",
      () => [fileOf(short), field("keywords[]", "kaffihús"), field("keywords", "Búri")],
    ],
    ["a code with an underscore", () => [fileOf(short), field("language", "is_is")]],
    ["the language is to be detected", () => [fileOf(short), field("language", "auto")]],
    [
      "numbers and booleans as text",
      () => [fileOf(short), field("temperature", "0.20"), field("stream", "False")],
    ],
    [
      "fields of other services",
      () => [
        fileOf(short),
        field("vad_filter", "true"),
        field("chunking_strategy[type]", "server_vad"),
      ],
    ],
    ["a prompt", () => [fileOf(short), field("prompt", "Kaffihúsið, Guðrún Ósk, Þingvellir.")]],
    ["no model", () => [fileOf(short)]],
    [
      "Nextcloud: any name, and Basic",
      () => [{ ...fileOf(short), fileName: "file.mp3", type: "application/octet-stream" }],
      () => ({ headers: { authorization: basic("admin", dialects.service.key) } }),
    ],
    [
      "a key as the user of Basic",
      () => [fileOf(short)],
      () => ({ headers: { authorization: basic(dialects.service.key, "") } }),
    ],
    [
      "a key as a token",
      () => [fileOf(short)],
      () => ({ headers: { authorization: `Token ${dialects.service.key}` } }),
    ],
    [
      "a bare key",
      () => [fileOf(short)],
      () => ({ headers: { authorization: dialects.service.key } }),
    ],
    [
      "Azure's header",
      () => [fileOf(short)],
      () => ({ headers: { "api-key": dialects.service.key } }),
    ],
    [
      "whisper-to-input: options in the query",
      () => [{ ...fileOf(short), fileName: "@audio.m4a" }],
      () => ({
        path: "/v1/audio/transcriptions?encode=true&task=transcribe&language=is&output=json",
      }),
    ],
    [
      "a language in the path",
      () => [fileOf(short)],
      () => ({ path: "/openai/is/v1/audio/transcriptions" }),
    ],
    [
      "a slash after the path",
      () => [fileOf(short)],
      () => ({ path: "/v1/audio/transcriptions/" }),
    ],
    [
      "MediaRecorder's WebM",
      () => [{ ...fileOf(encode(short, "webm")), type: "audio/webm;codecs=opus" }],
    ],
    ["MP3", () => [fileOf(encode(short, "mp3"))]],
    ["MP4 with its index at the end", () => [fileOf(encode(short, "mp4"))]],
    [
      "other files are ignored",
      () => [{ ...fileOf(Buffer.from("cover")), name: "cover" }, fileOf(short)],
    ],
  ];
  for (const [who, parts, options] of rows) {
    test(who, async () => {
      const { status, json, content } = await dialects.send(parts(), options?.());
      assert.equal(status, 200, content);
      assert.match(json.text, shortText);
    });
  }

  test("silence is an empty text", async () => {
    const { status, json } = await dialects.send([fileOf(wavOf(noise(2000, 2)))]);
    assert.equal(status, 200);
    assert.equal(json.text, "");
    assert.equal(json.usage.seconds, 2);
  });

  test("a body without Content-Length", async () => {
    const { body, contentType } = formBody([fileOf(short)]);
    const answer = await fetch(`${dialects.service.address}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { ...bearer(dialects.service.key), "content-type": contentType },
      body: new Blob([body]).stream(),
      duplex: "half",
    });
    assert.equal(answer.status, 200);
  });

  test("HEAD and other methods", async () => {
    const headers = bearer(dialects.service.key);
    const head = await fetch(`${dialects.service.address}/v1/models`, { method: "HEAD", headers });
    assert.equal(head.status, 200);
    const get = await fetch(`${dialects.service.address}/v1/audio/transcriptions`, { headers });
    assert.equal(get.status, 405);
    assert.equal(get.headers.get("allow"), "POST");
    assert.match(await get.text(), /^\{"error":\{"message":"this path accepts POST"/);
  });
});

describe("wrong calls get an error with the field, and store nothing", () => {
  const rows: readonly [
    what: string,
    parts: () => readonly FormPart[],
    status: number,
    param: string | null,
    message: RegExp,
  ][] = [
    ["no file", () => [field("model", "x")], 400, "file", /^file: is required/],
    ["two files", () => [fileOf(short), fileOf(short)], 400, null, /has 2 files; send one/],
    [
      "a format",
      () => [fileOf(short), field("response_format", "xml")],
      400,
      "response_format",
      /must be json, text, .* not "xml"/,
    ],
    [
      "a granularity",
      () => [fileOf(short), field("timestamp_granularities[]", "letter")],
      400,
      "timestamp_granularities",
      /must be word or segment, not "letter"/,
    ],
    [
      "a language",
      () => [fileOf(short), field("language", "fr")],
      400,
      "language",
      /is "fr", which has no installed model/,
    ],
    [
      "probabilities",
      () => [fileOf(short), field("include[]", "logprobs")],
      400,
      "include",
      /cannot have logprobs/,
    ],
    [
      "speakers",
      () => [fileOf(short), field("response_format", "diarized_json")],
      400,
      "response_format",
      /no diarization model/,
    ],
    [
      "a stream of subtitles",
      () => [fileOf(short), field("stream", "true"), field("response_format", "srt")],
      400,
      "stream",
      /cannot be used with response_format srt/,
    ],
    [
      "a keyword",
      () => [fileOf(short), field("keywords[]", "a\u0007b")],
      400,
      "keywords[0]",
      /control character/,
    ],
    [
      "several at once",
      () => [fileOf(short), field("language", "fr"), field("response_format", "xml")],
      400,
      "response_format",
      /xml.*fr/,
    ],
    [
      "a file that is text",
      () => [fileOf(Buffer.from("no recording at all"))],
      400,
      null,
      /not a recording|cannot be/,
    ],
    ["an empty file", () => [fileOf(Buffer.alloc(0))], 400, null, /empty/],
    [
      "a cut MP4",
      () => [fileOf(encode(short, "faststart.mp4").subarray(0, 9000))],
      400,
      null,
      /cut short|damaged|truncated/,
    ],
  ];
  for (const [what, parts, status, param, message] of rows) {
    test(what, async () => {
      const answer = await dialects.send(parts());
      assert.equal(answer.status, status, answer.content);
      assert.deepEqual(Object.keys(answer.json.error), ["message", "type", "code", "param"]);
      assert.match(answer.json.error.message, message);
      assert.equal(answer.json.error.param, param);
      assert.equal(answer.json.error.type, "invalid_request_error");
      await dialects.assertNothingLeft();
    });
  }

  test("a body that is not a form, or half a form", async () => {
    const headers = bearer(dialects.service.key);
    const post = async (body: string | Buffer<ArrayBuffer>, type: string) => {
      const answer = await fetch(`${dialects.service.address}/v1/audio/transcriptions`, {
        method: "POST",
        headers: { ...headers, "content-type": type },
        body,
      });
      const { error }: { error: { message: string } } = JSON.parse(await answer.text());
      return { status: answer.status, message: error.message };
    };
    const json = await post("{}", "application/json");
    assert.equal(json.status, 400);
    assert.match(
      json.message,
      /must be multipart\/form-data with a boundary, not application\/json/,
    );
    const { body, contentType } = formBody([field("model", "x"), fileOf(short)]);
    const half = await post(body.subarray(0, body.length / 2), contentType);
    assert.equal(half.status, 400);
    assert.match(half.message, /incomplete or malformed/);
    await dialects.assertNothingLeft();
  });

  test("many or long fields", async () => {
    const many = await dialects.send([
      ...Array.from({ length: 300 }, () => field("keywords[]", "a")),
      fileOf(short),
    ]);
    assert.equal(many.status, 400);
    assert.match(many.json.error.message, /too many parts/);
    const longField = await dialects.send([field("prompt", "a".repeat(70_000)), fileOf(short)]);
    assert.equal(longField.status, 400);
    assert.match(longField.json.error.message, /prompt: is longer than 65536 bytes/);
    await dialects.assertNothingLeft();
  });

  test("a recording that is too large is refused before it is sent", async () => {
    const sent = await announced(12_000_000);
    assert.equal(sent.status, 413);
    assert.equal(sent.asked, false, "the body was not asked for");
    const large = await dialects.send([fileOf(Buffer.alloc(recordingBytesMax + 1, 1))]);
    assert.equal(large.status, 413);
    assert.match(large.json.error.message, /larger than 4000000 bytes/);
    await dialects.assertNothingLeft();
  });

  test("no key, a wrong key, two keys, and a key without the scope", async () => {
    const none = await dialects.send([fileOf(short)], { headers: {} });
    assert.equal(none.status, 401);
    assert.equal(none.json.error.code, "invalid_api_key");
    const wrong = await dialects.send([fileOf(short)], { headers: bearer("wrong") });
    assert.equal(wrong.status, 401);
    const two = { ...bearer(dialects.service.key), "api-key": "other" };
    assert.equal((await dialects.send([fileOf(short)], { headers: two })).status, 400);
    const { json } = await dialects.service.call("POST", "/v1/apiKeys", {
      scopes: ["transcripts.read"],
    });
    const reader = await dialects.send([fileOf(short)], { headers: bearer(json.secret) });
    assert.equal(reader.status, 403);
    assert.match(reader.json.error.message, /lacks the scope speech/);
    await dialects.assertNothingLeft();
  });
});

/** Announces a body of this size, and waits for the answer before it sends any of it. */
async function announced(bytes: number): Promise<{ status: number; asked: boolean }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; asked: boolean }>();
  let asked = false;
  const sent = request(`${dialects.service.address}/v1/audio/transcriptions`, {
    method: "POST",
    headers: {
      ...bearer(dialects.service.key),
      "content-type": "multipart/form-data; boundary=x",
      "content-length": bytes,
      expect: "100-continue",
    },
  });
  sent.on("continue", () => (asked = true)).on("error", reject);
  sent.on("response", (answer) => {
    answer.resume();
    resolve({ status: answer.statusCode ?? 0, asked });
    sent.destroy();
  });
  sent.flushHeaders();
  return await promise;
}
