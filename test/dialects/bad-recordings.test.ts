// Recordings that cannot be used or are too large, in each dialect that takes files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { encode } from "../fixtures/encoded-audio.ts";
import { within } from "../fixtures/until.ts";
import {
  bearer,
  fileOf,
  openDialectService,
  shortSpeech,
  type DialectService,
} from "./dialect-service.ts";
import { formBody } from "./form-body.ts";

let dialects: DialectService;

before(async () => {
  dialects = await openDialectService();
});
after(() => dialects[Symbol.asyncDispose]());

/** How each dialect takes a file, as a part of a form unless it is the body; and its errors. */
const fileWays = {
  OpenAI: {
    path: "/v1/audio/transcriptions",
    part: "file",
    messageOf: (body: string) => JSON.parse(body).error.message,
  },
  "OpenAI, a stream of events": {
    path: "/openai/is/v1/audio/transcriptions?stream=true",
    part: "file",
    messageOf: (body: string) => JSON.parse(body).error.message,
  },
  "whisper.cpp": {
    path: "/inference",
    part: "file",
    messageOf: (body: string) => JSON.parse(body).error,
  },
  "whisper-asr": {
    path: "/asr",
    part: "audio_file",
    messageOf: (body: string) => body.trimEnd(),
  },
  Deepgram: {
    path: "/v1/listen",
    part: undefined,
    messageOf: (body: string) => JSON.parse(body).err_msg,
  },
};

/** Posts a recording as the dialect wants it. */
async function post(
  { path, part }: (typeof fileWays)[keyof typeof fileWays],
  recording: Uint8Array,
): Promise<Response> {
  const { address, key } = dialects.service;
  const form = part !== undefined && formBody([{ ...fileOf(recording), name: part }]);
  return await fetch(`${address}${path}`, {
    method: "POST",
    headers: { ...bearer(key), ...(form && { "content-type": form.contentType }) },
    body: form ? form.body : Buffer.from(recording),
  });
}

/** Returns the error of a job with this recording. */
async function jobError(recording: Buffer): Promise<string> {
  const { service } = dialects;
  const audio = { content: recording.toString("base64") };
  const body = { config: { languageCode: "is-IS" }, audio };
  const { json: begun } = await service.call("POST", "/v1/speech:longrunningrecognize", body);
  const { json } = await service.call("POST", `/v1/${begun.name}:wait`, { timeout: "60s" });
  assert.equal(json.done, true);
  return json.error.message;
}

/** Returns an MP4 file whose sound is encrypted. */
function encrypted(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "hlust-encrypted-"));
  try {
    const out = join(folder, "locked.mp4");
    const key = ["-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "7".repeat(32)];
    const quiet = ["-nostdin", "-loglevel", "error", "-i", "-"];
    const input = shortSpeech();
    execFileSync("ffmpeg", [...quiet, ...key, "-encryption_kid", "a".repeat(32), out], { input });
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("bad input of files", () => {
  test("a recording that cannot be used has the error of jobs, in the dialect's form", async () => {
    const cut = encode(shortSpeech(), "faststart.mp4");
    const rows: [recording: Buffer, says: RegExp][] = [
      [cut.subarray(0, 9_000), /cut short|damaged|truncated/],
      [encrypted(), /encrypted/],
      [Buffer.from("\n<!DOCTYPE html><html><body>404</body></html>"), /web page \(HTML\)/],
      [Buffer.from("Once upon a time. ".repeat(200)), /not a recording/],
    ];
    for (const [recording, says] of rows) {
      const expectedError = await jobError(recording);
      assert.match(expectedError, says);
      for (const [name, way] of Object.entries(fileWays)) {
        const answer = await post(way, recording);
        const body = await answer.text();
        assert.equal(answer.status, 400, `${name}: ${body}`);
        assert.equal(way.messageOf(body), expectedError, name);
      }
    }
  });

  for (const [name, way] of Object.entries(fileWays)) {
    test(`${name}: a recording past the limit is refused before it is sent`, async () => {
      const { status, body, isAsked } = await announce(way.path, 2 ** 31);
      assert.equal(status, 413);
      assert.match(way.messageOf(body), /larger than \d+ bytes/);
      assert.equal(isAsked, false, "the body was not asked for");
    });
  }
});

/** Announces a body of this size, and waits for the answer before it sends any of it. */
async function announce(path: string, bytes: number) {
  const { address, key } = dialects.service;
  const type = path === "/v1/listen" ? "audio/wav" : "multipart/form-data; boundary=x";
  let isAsked = false;
  const sent = request(`${address}${path}`, {
    method: "POST",
    headers: {
      ...bearer(key),
      "content-type": type,
      "content-length": bytes,
      expect: "100-continue",
    },
  });
  sent.on("continue", () => (isAsked = true));
  const answered = new Promise<{ status: number; body: string }>((resolve, reject) => {
    sent.on("error", reject).on("response", (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
  sent.flushHeaders();
  const answer = await within("the refusal", answered);
  sent.destroy();
  return { ...answer, isAsked };
}
