// Server streams over REST (§4.10), over every protocol of a real server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, constants, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { openTestRestDoor, openTestStreams, token } from "../../test/fixtures/open-test-streams.ts";
import { until } from "../../test/fixtures/until.ts";

const authorization = `Bearer ${token}`;
const withToken = { authorization };

function http2Of(t: TestContext, address: string): ClientHttp2Session {
  const session = connectHttp2(address);
  t.after(() => session.destroy());
  return session;
}

/** Reads a complete response over HTTP/2. `code` is the reset code of the stream. */
async function callHttp2(session: ClientHttp2Session, headers: Record<string, string>) {
  const stream = session.request({ ...withToken, ...headers }, { endStream: true });
  stream.on("error", () => {});
  let text = "";
  stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  const closed = once(stream, "close");
  const [answer] = await Promise.race([once(stream, "response"), closed.then(() => [{}])]);
  await closed;
  return { headers: answer, text, code: stream.rstCode };
}

const status = (code: number, message: string, reason: string) => ({
  code,
  message,
  details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "hlust" }],
});

// This test comes first because mock timers must not stop the timers of an open connection.
test("a stream that is open when the service stops ends with UNAVAILABLE", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const server = await openTestStreams();
  const session = http2Of(t, server.address);
  const stream = session.request({
    ...withToken,
    ":path": "/v1/count/1?to=2&atEnd=hang",
  });
  const { port } = new URL(server.address);
  const socket = connect(Number(port), "127.0.0.1").setEncoding("latin1");
  const head = `host: x\r\nauthorization: ${authorization}\r\naccept: text/event-stream`;
  socket.write(`GET /v1/count/1?to=2&atEnd=hang HTTP/1.1\r\n${head}\r\n\r\n`);
  await Promise.all([once(stream, "response"), once(socket, "readable")]);
  const stopped = server[Symbol.asyncDispose]();
  t.mock.timers.tick(15_000);
  const [ofStream, ofSocket] = await Promise.all([
    Array.fromAsync(stream.setEncoding("utf8")),
    Array.fromAsync(socket),
  ]);
  await stopped;
  assert.match(ofStream.join(""), /^\{"result":\{"n":1\}\}\n\{"error":\{"code":14,.*\}\n$/);
  assert.match(ofSocket.join(""), /\r\ndata: \{"error":\{"code":14,.*\}\n\n\r\n0\r\n\r\n$/);
  assert.equal(server.seen.over, 2);
});

test("a server stream is sent as one line of JSON per message", async () => {
  await using server = await openTestStreams();
  const calls = [
    fetch(`${server.address}/v1/count/1?to=3`, { headers: withToken }),
    fetch(`${server.address}/v1/count`, {
      method: "POST",
      headers: { ...withToken, "content-type": "application/json" },
      body: '{"from": 1, "to": 3}',
    }),
  ];
  for (const answer of await Promise.all(calls)) {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal(answer.headers.get("x-count"), "3");
    assert.equal(await answer.text(), '{"result":{"n":1}}\n{"result":{"n":2}}\n');
  }
  assert.deepEqual(server.bugs, []);
});

test("a server stream with Accept: text/event-stream is sent as events, followed by an end event", async () => {
  await using server = await openTestStreams();
  const answer = await fetch(`${server.address}/v1/count/1?to=3`, {
    headers: { ...withToken, accept: "text/event-stream" },
  });
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  assert.equal(
    await answer.text(),
    'data: {"result":{"n":1}}\n\ndata: {"result":{"n":2}}\n\nevent: end\nid: end\ndata: {}\n\n',
  );
});

test("a server stream is the same over HTTP/2", async (t) => {
  await using server = await openTestStreams();
  const session = http2Of(t, server.address);
  const lines = await callHttp2(session, { ":path": "/v1/count/1?to=3" });
  assert.equal(lines.headers["content-type"], "application/x-ndjson");
  assert.equal(lines.text, '{"result":{"n":1}}\n{"result":{"n":2}}\n');
  assert.equal(lines.code, constants.NGHTTP2_NO_ERROR);
  const accept = "text/event-stream";
  const events = await callHttp2(session, { ":path": "/v1/count/1?to=2", accept });
  assert.equal(events.text, 'data: {"result":{"n":1}}\n\nevent: end\nid: end\ndata: {}\n\n');
  const failure = await callHttp2(session, { ":path": "/v1/count/1?to=2&atEnd=refuse" });
  assert.match(failure.text, /\n\{"error":\{"code":9,.*\}\n$/);
  const early = await callHttp2(session, { ":path": "/v1/count/1?atEnd=refuse" });
  assert.equal(early.headers[":status"], 400);
});

test("response_body applies to each message", async () => {
  await using server = await openTestStreams();
  const answer = await fetch(`${server.address}/v1/names?to=2&size=3`, { headers: withToken });
  assert.equal(await answer.text(), '{"result":"xxx"}\n{"result":"xxx"}\n');
});

test("a stream without messages has an empty body, or only the end event", async () => {
  await using server = await openTestStreams();
  const url = `${server.address}/v1/count/1`;
  const lines = await fetch(url, { headers: withToken });
  assert.deepEqual([lines.status, await lines.text()], [200, ""]);
  const accept = "text/event-stream";
  const events = await fetch(url, { headers: { ...withToken, accept } });
  assert.equal(await events.text(), "event: end\nid: end\ndata: {}\n\n");
});

test("a failure before the first message gets its own HTTP status, whatever the client accepts", async () => {
  await using server = await openTestStreams();
  for (const accept of ["*/*", "text/event-stream"]) {
    const headers = { ...withToken, accept };
    const answer = await fetch(`${server.address}/v1/count/1?atEnd=refuse`, { headers });
    assert.equal(answer.status, 400);
    assert.equal(answer.headers.get("content-type"), "application/json");
    const body: unknown = await answer.json();
    const { code, message, details } = status(9, "no more", "NO_MORE");
    const error = { code: 400, status: "FAILED_PRECONDITION", message, details };
    assert.deepEqual(body, { code, message, details, error });
  }
});

test("a failure after the first message is sent as the last message", async () => {
  await using server = await openTestStreams();
  const rows: [atEnd: string, error: object, mayRepeat: boolean][] = [
    ["refuse", status(9, "no more", "NO_MORE"), false],
    ["bug", status(13, "internal error", "INTERNAL"), false],
    [
      "away",
      {
        ...status(14, "come again", "UNAVAILABLE"),
        details: [
          ...status(14, "", "UNAVAILABLE").details,
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1s" },
        ],
      },
      true,
    ],
  ];
  for (const [atEnd, error, mayRepeat] of rows) {
    const url = `${server.address}/v1/count/1?to=2&atEnd=${atEnd}`;
    const text = JSON.stringify({ error });
    const lines = await fetch(url, { headers: withToken });
    assert.equal(lines.status, 200);
    assert.equal(await lines.text(), `{"result":{"n":1}}\n${text}\n`);
    const accept = "text/event-stream";
    const events = await fetch(url, { headers: { ...withToken, accept } });
    const id = mayRepeat ? "" : "id: end\n";
    assert.equal(await events.text(), `data: {"result":{"n":1}}\n\n${id}data: ${text}\n\n`);
  }
  assert.deepEqual(server.bugs.map(String), ["Error: a bug", "Error: a bug"]);
});

test("an EventSource that reconnects after the end gets 204", async () => {
  await using server = await openTestStreams();
  const url = `${server.address}/v1/count/1?to=2`;
  const headers = { ...withToken, accept: "text/event-stream", "last-event-id": "end" };
  assert.equal((await fetch(url, { headers })).status, 204);
  const rows = [
    { ...headers, "last-event-id": "7" },
    { ...headers, accept: "*/*" },
  ];
  for (const other of rows) {
    assert.equal((await fetch(url, { headers: other })).status, 200);
  }
  assert.equal((await fetch(url, { headers: { ...headers, authorization: "" } })).status, 401);
});

test("the token is checked before the call", async () => {
  await using server = await openTestStreams();
  const path = "/v1/count/1?noSuchParameter=1";
  const rows: [headers: Record<string, string>, status: number][] = [
    [{}, 401],
    [{ "grpc-timeout": "soon" }, 401],
    [withToken, 400],
    [{ ...withToken, "content-encoding": "gzip" }, 415],
  ];
  for (const [headers, expected] of rows) {
    const answer = await fetch(`${server.address}${path}`, { headers });
    assert.equal(answer.status, expected, JSON.stringify(headers));
  }
  const talk = await fetch(`${server.address}/v1/talk`, { headers: withToken });
  assert.equal(talk.status, 426);
  assert.equal((await fetch(`${server.address}/v1/count/1?token=${token}&to=2`)).status, 200);
  assert.equal((await fetch(`${server.address}/v1/names?token=${token}`)).status, 401);
});

test("a unary method returns JSON, whatever the client accepts", async () => {
  await using server = await openTestStreams();
  for (const accept of ["text/event-stream", "text/html", "application/json;q=0", "*/*;q=0"]) {
    const headers = { ...withToken, accept };
    const answer = await fetch(`${server.address}/v1/wait`, { headers });
    assert.equal(answer.headers.get("content-type"), "application/json", accept);
  }
});

const limits = { headersMsMax: 20, aliveMs: 60_000, unsentMsMax: 60_000 };

test("the headers of a silent stream are sent after a delay, and a later failure is sent in the stream", async (t) => {
  await using server = await openTestRestDoor(limits);
  const url = `${server.address}/v1/count/1?atEnd=hang`;
  const session = http2Of(t, server.address);
  const overHttp2 = session.request({ ...withToken, ":path": "/v1/count/1?atEnd=hang" });
  const [[head], answer] = await Promise.all([
    once(overHttp2, "response"),
    fetch(url, { headers: { ...withToken, accept: "text/event-stream" } }),
  ]);
  assert.equal(head[":status"], 200);
  assert.equal(answer.status, 200);
  // This unary method throws one of Node's own errors when it is aborted.
  const unary = fetch(`${server.address}/v1/wait?atEnd=abort`, { headers: withToken });
  await until(async () => await Promise.resolve(server.seen.tokens.length === 3));
  server.stop.abort();
  assert.equal((await unary).status, 503);
  assert.deepEqual(server.bugs, []);
  assert.match(await answer.text(), /^data: \{"error":\{"code":14,"message":"the service is/);
  let text = "";
  for await (const part of overHttp2.setEncoding("utf8")) text += part;
  assert.match(text, /^\{"error":\{"code":14,.*\}\n$/);
  assert.equal(server.seen.over, 2);
});

test("comments are sent on a silent event stream, but not on a stream of JSON lines", async () => {
  await using server = await openTestRestDoor({ ...limits, aliveMs: 20 });
  const url = `${server.address}/v1/count/1?to=2&atEnd=hang`;
  const lines = await fetch(url, { headers: withToken });
  const events = await fetch(url, { headers: { ...withToken, accept: "text/event-stream" } });
  assert.ok(events.body && lines.body);
  let text = "";
  for await (const part of events.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.endsWith(":\n\n:\n\n:\n\n")) break;
  }
  assert.equal(text.replaceAll(":\n\n", ""), 'data: {"result":{"n":1}}\n\n');
  server.stop.abort();
  assert.match(await lines.text(), /^\{"result":\{"n":1\}\}\n\{"error":.*\}\n$/);
});

test("the method produces no more messages than the client reads", async (t) => {
  await using server = await openTestStreams();
  const [count, size] = [3_000, 10_000];
  const path = `/v1/count/0?to=${count}&size=${size}`;
  const { port } = new URL(server.address);
  const socket = connect(Number(port), "127.0.0.1");
  const session = http2Of(t, server.address);
  const stream = session.request({ ...withToken, ":path": path });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
  // The clients read nothing, so both streams stall long before their end.
  const { seen } = server;
  let before = -1;
  await until(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const isStill = seen.asked === before && seen.asked > 0;
    before = seen.asked;
    return await Promise.resolve(isStill);
  });
  assert.ok(seen.asked < count, `${seen.asked} of ${2 * count} messages`);
  let [lines, length] = [0, 0];
  for await (const part of stream.setEncoding("latin1")) lines += part.split("\n").length - 1;
  assert.equal(lines, count);
  let tail = "";
  for await (const part of socket) {
    length += part.length;
    tail = (tail + part.subarray(-5).toString("latin1")).slice(-5);
    if (tail === "0\r\n\r\n") break;
  }
  assert.ok(length > count * size);
  assert.equal(seen.asked, 2 * count);
});

test("a client that reads nothing is disconnected, and its method is aborted", async () => {
  await using server = await openTestRestDoor({ ...limits, unsentMsMax: 100 });
  const path = "/v1/count/0?to=100000&size=10000";
  const { port } = new URL(server.address);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
  await until(async () => await Promise.resolve(server.seen.over === 1));
  assert.ok(server.seen.asked < 100_000);
  assert.equal(server.seen.reasons.length, 1);
  assert.deepEqual(server.bugs, []);
  socket.destroy();
});

test("a slow client is not disconnected, not even during one long message", async () => {
  await using server = await openTestRestDoor({ ...limits, unsentMsMax: 2_000 });
  const size = 16 << 20;
  const answer = await fetch(`${server.address}/v1/count/0?to=1&size=${size}`, {
    headers: withToken,
  });
  assert.ok(answer.body);
  const began = performance.now();
  let length = 0;
  for await (const part of answer.body) {
    length += part.length;
    // At this rate the client would need six seconds, but the last part arrives in one piece.
    const ms = (6_000 * part.length) / size;
    if (performance.now() - began < 4_500) await new Promise((resolve) => setTimeout(resolve, ms));
  }
  assert.ok(performance.now() - began > 4_000, "longer than the limit");
  assert.equal(length, size + '{"result":{"name":""}}\n'.length);
});

test("a method is aborted when its client disconnects, and its finally block runs", async (t) => {
  await using server = await openTestStreams();
  const { seen } = server;
  const session = http2Of(t, server.address);
  const away = new AbortController();
  const url = `${server.address}/v1/count/1?to=2&atEnd=hang`;
  const answer = await fetch(url, { headers: withToken, signal: away.signal });
  const stream = session.request({ ...withToken, ":path": "/v1/count/1?to=2&atEnd=hang" });
  stream.on("error", () => {});
  await once(stream, "response");
  away.abort();
  await answer.text().catch(() => {});
  stream.close(constants.NGHTTP2_CANCEL);
  await until(async () => await Promise.resolve(seen.over === 2));
  assert.deepEqual(seen.reasons.map(String), [
    "ServiceError: the client closed the request",
    "ServiceError: the client closed the request",
  ]);
  assert.deepEqual(server.bugs, []);
});
