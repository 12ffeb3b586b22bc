// Requests whose compression is damaged, and deflate bombs, over every protocol that decompresses.
// test/spec/bounded-requests.test.ts has the bombs of the other compressions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { envelope, held, heldMsMax, postRpc } from "./post-rpc.ts";
import { openTestService, type TestService } from "./service.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  // The first call of each kind loads the code that it needs.
  await service.call("POST", "/v1alpha1/transcripts", { segments: [] });
});
after(() => service[Symbol.asyncDispose]());

const transcripts = "/hlust.transcripts.v1alpha1.Transcripts";
const create = `${transcripts}/CreateTranscript`;
const submit = `${transcripts}/SubmitTranscriptJob`;
const stream = "/hlust.speech.v2beta1.Speech/StreamingRecognize";

/** Sends a message in an envelope or alone, and returns what the answer states. */
async function send(path: string, type: string, coding: string, message: Uint8Array) {
  const isConnect = type === "application/json";
  const [name, body] = isConnect
    ? ["content-encoding", message]
    : ["grpc-encoding", envelope(message, 1)];
  const headers = { "content-type": type, [name]: coding, ...(!isConnect && { te: "trailers" }) };
  const { answer, heldMs } = await held(() => postRpc(service, path, headers, body));
  const { status, text } = answer;
  const shown = decodeURIComponent(`${answer.headers["grpc-message"] ?? ""} ${text}`);
  return { shown, heldMs, status: isConnect ? status : answer.headers["grpc-status"] };
}

const types = ["application/json", "application/grpc+json", "application/grpc-web+json"];
const compressions = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync } as const;
/** Digits that compress little, so that the middle of their compressed form is digits. */
const digits = Array.from({ length: 200 }, (_, at) => (at * 7919) ** 2).join("");

test("a message whose compression is damaged is refused with the name of the compression", async () => {
  for (const [coding, compress] of Object.entries(compressions)) {
    const whole = compress(JSON.stringify({ uri: digits }));
    const middle = Math.floor(whole.length / 2);
    const damages: [string, Buffer][] = [
      ["in the middle", Buffer.from(whole).fill(0xff, middle, middle + 16)],
      ["cut short", whole.subarray(0, middle)],
      ["not compressed", Buffer.from(JSON.stringify({ uri: digits }))],
    ];
    for (const type of types) {
      for (const [damage, message] of damages) {
        const row = `${coding} ${damage}, ${type}`;
        const { shown, status } = await send(submit, type, coding, message);
        assert.match(shown, new RegExp(`the message is not compressed with ${coding}`), row);
        if (type !== "application/grpc-web+json") {
          assert.equal(String(status), type === "application/json" ? "400" : "3", row);
        }
      }
    }
  }
});

const many = 4_000_000;
const segments = () => Buffer.from(`{"transcript":{"segments":[${"{},".repeat(many)}{}]}}`);
const zeros = () => Buffer.alloc(30_000_000);
const bombs: [path: string, type: string, make: () => Buffer, message: RegExp][] = [
  [submit, "application/json", zeros, /larger than \d+ bytes/],
  [submit, "application/grpc+json", zeros, /larger than \d+ bytes/],
  [submit, "application/grpc-web+json", zeros, /larger than \d+ bytes/],
  [stream, "application/grpc+proto", zeros, /larger than \d+ bytes/],
  [create, "application/json", segments, /has more than (20000 segments|500000 objects)/],
  [create, "application/grpc+json", segments, /has more than (20000 segments|500000 objects)/],
];

for (const [path, type, make, message] of bombs) {
  test(`${type} refuses a deflate bomb to ${path} without blocking other calls`, async () => {
    const sent = deflateSync(make());
    const { shown, heldMs } = await send(path, type, "deflate", sent);
    assert.match(shown, message);
    assert.ok(heldMs < heldMsMax, `the thread was held for ${heldMs} ms`);
  });
}
