// Retries of the client, with servers that fail, refuse and disconnect.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { createHlustClient, type HlustClientOptions } from "./hlust-client.ts";

type Answer = (response: ServerResponse) => void;

/** Answers with a google.rpc.Status; `askedSeconds` is the delay of a RetryInfo. */
function failure(status: number, code: Code, askedSeconds?: number): Answer {
  const details =
    askedSeconds === undefined
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${askedSeconds}s` }];
  return (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ code, message: "not now", details }));
  };
}

const unavailable = failure(503, Code.Unavailable);
const busy = failure(429, Code.ResourceExhausted, 0.05);
const disconnected: Answer = (response) => response.destroy();
const ok: Answer = (response) => {
  response.writeHead(200, { "content-type": "application/json" }).end('{"name":"transcriptjob/1"}');
};

/** Serves these answers one after the other, the last one again and again. */
async function serve(answers: readonly Answer[], options: Partial<HlustClientOptions> = {}) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    (answers[Math.min(requests.length, answers.length) - 1] ?? ok)(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === "object");
  return {
    requests,
    client: createHlustClient({ url: `http://127.0.0.1:${bound.port}`, token: "k", ...options }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const name = "transcriptjob/1";
const submitted = { uri: "https://a.example/b.wav", metadata: { subject: "s" } };
const changed = { transcript: { name: "transcripts/1" } };

for (const [what, answer] of Object.entries({ unavailable, busy, disconnected })) {
  test(`a read is repeated twice if the service is ${what}`, async () => {
    await using server = await serve([answer, answer, ok]);
    assert.equal((await server.client.transcripts.getTranscriptJob({ name })).name, name);
    assert.equal(server.requests.length, 3);
  });
}

test("a call fails with the last error after its retries", async () => {
  await using server = await serve([unavailable]);
  const call = server.client.transcripts.getTranscriptJob({ name });
  await assert.rejects(call, { code: Code.Unavailable, rawMessage: "not now" });
  assert.equal(server.requests.length, 3);
});

test("with maxRetries 0 a call is sent once", async () => {
  await using server = await serve([unavailable], { maxRetries: 0 });
  await assert.rejects(server.client.transcripts.submitTranscriptJob(submitted), ConnectError);
  assert.equal(server.requests.length, 1);
  assert.equal(server.requests[0]?.headers["idempotency-key"], undefined);
});

test("a job is submitted again with the same Idempotency-Key", async () => {
  await using server = await serve([disconnected, unavailable, ok]);
  await server.client.transcripts.submitTranscriptJob(submitted);
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
  assert.deepEqual(keys, Array(3).fill(keys[0]));
});

test("a change is repeated only if the service refused it before it began", async () => {
  await using lost = await serve([disconnected]);
  await assert.rejects(lost.client.transcripts.updateTranscript(changed), ConnectError);
  assert.equal(lost.requests.length, 1);
  await using refused = await serve([busy, ok]);
  await refused.client.transcripts.updateTranscript(changed);
  assert.equal(refused.requests.length, 2);
});

test("errors that a retry cannot cure, and pauses of over a minute, are not waited for", async () => {
  const answers = [
    failure(400, Code.InvalidArgument),
    failure(404, Code.NotFound),
    failure(429, Code.ResourceExhausted),
    failure(429, Code.ResourceExhausted, 3_600),
  ];
  for (const answer of answers) {
    await using server = await serve([answer]);
    await assert.rejects(server.client.transcripts.getTranscriptJob({ name }), ConnectError);
    assert.equal(server.requests.length, 1);
  }
});

test("timeoutMs and signal end a call while it waits to be repeated", async () => {
  await using server = await serve([failure(429, Code.ResourceExhausted, 50)]);
  const timeout = server.client.transcripts.getTranscriptJob({ name }, { timeoutMs: 200 });
  await assert.rejects(timeout, { code: Code.DeadlineExceeded });
  const signal = AbortSignal.timeout(200);
  const aborted = server.client.transcripts.getTranscriptJob({ name }, { signal });
  await assert.rejects(aborted, ConnectError);
});

test("defaultTimeoutMs limits calls without a limit of their own", async () => {
  await using server = await serve([() => {}], { defaultTimeoutMs: 100 });
  const call = server.client.transcripts.getTranscriptJob({ name });
  await assert.rejects(call, { code: Code.DeadlineExceeded });
});
