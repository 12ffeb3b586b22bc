import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  checkPartType,
  readCreation,
  readMetadata,
  readOffset,
  refuseUnchecked,
} from "./tus-headers.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const headersOf =
  (headers: Readonly<Record<string, string>>) =>
  (name: string): string | undefined =>
    headers[name];

test("readCreation() reads the size, the file name and the resource", () => {
  const metadata = `filename ${base64("Þórður á fundi.wav")},filetype ${base64("audio/wav")},resourceName ${base64("transcripts/x")},is_draft`;
  const creation = readCreation(
    headersOf({ "upload-length": "1000", "upload-metadata": metadata }),
    1000,
  );
  assert.deepEqual(creation, {
    sizeBytes: 1000,
    metadata,
    filename: "Þórður á fundi.wav",
    resourceName: "transcripts/x",
  });
  const bare = readCreation(headersOf({ "upload-length": "1" }), 1000);
  assert.deepEqual(bare, { sizeBytes: 1, metadata: "", filename: "", resourceName: "" });
});

test("readCreation() refuses wrong headers, and names the header", () => {
  const rows: [headers: Record<string, string>, reason: string, message: RegExp][] = [
    [{}, "UPLOAD_LENGTH_INVALID", /^the header Upload-Length is required$/],
    [{ "upload-length": "0" }, "UPLOAD_LENGTH_INVALID", /^Upload-Length must be at least 1$/],
    ...["", "-1", "+1", "1.5", "1e3", "0x10", " 7", "7 ", "1,1", "1, 1", "9".repeat(16), "٣"].map(
      (value): [Record<string, string>, string, RegExp] => [
        { "upload-length": value },
        "UPLOAD_LENGTH_INVALID",
        /^Upload-Length must be a number of bytes, not /,
      ],
    ),
    [
      { "upload-length": "1001" },
      "PAYLOAD_TOO_LARGE",
      /^Upload-Length is 1001: .*at most 1000 bytes$/,
    ],
    [{ "upload-length": "999999999999999" }, "PAYLOAD_TOO_LARGE", /at most 1000 bytes$/],
    [{ "upload-defer-length": "1" }, "TUS_EXTENSION_NOT_SUPPORTED", /^Upload-Defer-Length /],
    [
      { "upload-length": "9", "upload-concat": "partial" },
      "TUS_EXTENSION_NOT_SUPPORTED",
      /^Upload-Concat /,
    ],
    [
      { "upload-length": "9", "upload-metadata": "filename /w==" },
      "UPLOAD_METADATA_INVALID",
      /"?filename"? that is not UTF-8$/,
    ],
  ];
  for (const [headers, reason, message] of rows) {
    assert.throws(() => readCreation(headersOf(headers), 1000), { reason, message });
  }
});

test("readMetadata() refuses malformed metadata", () => {
  const rows: [text: string, message: RegExp][] = [
    ["filename YQ==,filename Yg==", /has the key "?filename"? twice$/],
    ["filename a", /that is not Base64/],
    ["filename YQ===", /that is not Base64/],
    ["filename Y!==", /that is not Base64/],
    ["filename YQ== Yg==", /a key, a space and Base64 are expected/],
    [",filename YQ==", /a key, a space and Base64 are expected/],
    ["filename YQ==,", /a key, a space and Base64 are expected/],
    ["skrá YQ==", /a key, a space and Base64 are expected/],
    ["\u0001 YQ==", /a key, a space and Base64 are expected/],
    ["a".repeat(4097), /has 4097 characters; at most 4096 are allowed$/],
  ];
  for (const [text, message] of rows) {
    assert.throws(() => readMetadata(text), { reason: "UPLOAD_METADATA_INVALID", message }, text);
  }
});

test("readMetadata() reads what a client has written, whatever the bytes are", () => {
  const key = fc.stringMatching(/^[!-+\--~]{1,20}$/);
  const pairs = fc.uniqueArray(fc.tuple(key, fc.uint8Array({ maxLength: 40 })), {
    maxLength: 8,
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(pairs, (all) => {
      const text = all.map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`);
      const read = [...readMetadata(text.join(","))].map(([name, value]) => [name, [...value]]);
      assert.deepEqual(
        read,
        all.map(([name, value]) => [name, [...value]]),
      );
    }),
  );
});

test("readOffset() reads 0 and more, and refuses any other text", () => {
  assert.equal(readOffset(headersOf({ "upload-offset": "0" })), 0);
  assert.equal(readOffset(headersOf({ "upload-offset": "8589934592" })), 2 ** 33);
  for (const value of ["", "-0", "1.0", "NaN", "Infinity", "0, 0"]) {
    const message = `Upload-Offset must be a number of bytes, not ${JSON.stringify(value)}`;
    assert.throws(() => readOffset(headersOf({ "upload-offset": value })), {
      reason: "UPLOAD_OFFSET_INVALID",
      message,
    });
  }
  assert.throws(() => readOffset(headersOf({})), { message: /Upload-Offset is required/ });
});

test("only bytes of an upload are accepted, without a coding or a checksum", () => {
  for (const type of ["application/offset+octet-stream", "Application/Offset+Octet-Stream ; a=b"]) {
    checkPartType(headersOf({ "content-type": type }));
  }
  for (const type of ["", "application/octet-stream", "audio/wav", "multipart/form-data; b=x"]) {
    assert.throws(() => checkPartType(headersOf({ "content-type": type })), { httpStatus: 415 });
  }
  assert.throws(() => checkPartType(headersOf({})), { message: /there is none$/ });
  refuseUnchecked(headersOf({ "content-encoding": "identity" }));
  const refused = [
    [{ "content-encoding": "gzip" }, "UNSUPPORTED_MEDIA_TYPE"],
    [{ "upload-checksum": "sha1 x" }, "TUS_EXTENSION_NOT_SUPPORTED"],
  ] as const;
  for (const [headers, reason] of refused) {
    assert.throws(() => refuseUnchecked(headersOf(headers)), { reason });
  }
});
