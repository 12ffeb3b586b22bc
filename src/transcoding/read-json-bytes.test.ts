import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  RecognizeRequestSchema,
  StreamingRecognizeRequestSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import { MSchema } from "../../test/gen/transcoding_pb.ts";
import { readJson } from "./read-json.ts";

test("readJson() reads bytes in any field", () => {
  const bytes = Buffer.from("some bytes, long enough to matter");
  const content = bytes.toString("base64url");
  const json = {
    by: content,
    rby: [content, ""],
    wby: content,
    sub: { by: content, sub: { by: content } },
    file: { data: content },
  };
  const message = readJson(MSchema, JSON.stringify(json));
  for (const read of [
    message.by,
    message.rby[0],
    message.wby,
    message.sub?.by,
    message.sub?.sub?.by,
    message.file?.data,
  ]) {
    assert.ok(read instanceof Uint8Array && bytes.equals(read));
  }
  assert.ok(!Buffer.isBuffer(message.by));
  const audio = readJson(RecognizeRequestSchema, JSON.stringify({ audio: { content } })).audio;
  assert.equal(audio?.audioSource.case, "content");
  assert.ok(audio.audioSource.case === "content" && bytes.equals(audio.audioSource.value));
});

test("readJson() reads a message of live audio in the same way with and without its fast path", () => {
  const base64 = fc
    .uint8Array({ maxLength: 40 })
    .map((bytes) => Buffer.from(bytes).toString("base64"));
  const value = fc.oneof(
    base64,
    fc.string({ maxLength: 6 }),
    fc.constantFrom("\\u0041AAA", 'A"', "AAA=", "="),
  );
  const name = fc.constantFrom("audioContent", "audio_content", "audiocontent", "streamingConfig");
  const space = fc.constantFrom("", " ");
  const end = fc.constantFrom('"}', '"}', '"} ', '" }', '"', "}", "", "AA", '","a":1}');
  fc.assert(
    fc.property(name, value, space, space, end, (name, value, before, after, end) => {
      const text = `{"${name}"${before}:${after}"${value}${end}`;
      const answer = (text: string | Uint8Array): unknown => {
        try {
          const schema = StreamingRecognizeRequestSchema;
          return toJson(schema, readJson(schema, text));
        } catch (error) {
          assert.ok(error instanceof ServiceError);
          return error.violations.length > 0 ? error.message : "not JSON";
        }
      };
      const general = answer(`${text} `);
      assert.deepEqual(answer(text), general);
      assert.deepEqual(answer(Buffer.from(text)), general);
    }),
    { numRuns: runs(10_000) },
  );
  const { streamingRequest } = readJson(StreamingRecognizeRequestSchema, '{"audioContent":""}');
  assert.deepEqual(streamingRequest, { case: "audioContent", value: new Uint8Array() });
});
