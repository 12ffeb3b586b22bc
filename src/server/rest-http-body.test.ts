// google.api.HttpBody in requests and responses (§4.10), over every protocol of a real server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { test } from "node:test";
import { openTestStreams, token } from "../../test/fixtures/open-test-streams.ts";

const authorization = `Bearer ${token}`;
const withToken = { authorization };

test("an HttpBody response is sent as its bytes, with its content type and the method's headers", async () => {
  await using server = await openTestStreams();
  const answer = await fetch(`${server.address}/v1/file?to=1&size=3`, { headers: withToken });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/x-test");
  assert.equal(answer.headers.get("content-disposition"), 'attachment; filename="a.bin"');
  assert.equal(answer.headers.get("content-length"), "3");
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.deepEqual(await answer.bytes(), new Uint8Array([255, 255, 255]));
  const untyped = await fetch(`${server.address}/v1/file`, { headers: withToken });
  assert.equal(untyped.headers.get("content-type"), "application/octet-stream");
  assert.equal((await untyped.bytes()).length, 0);
  const refused = await fetch(`${server.address}/v1/file?atEnd=refuse`, { headers: withToken });
  assert.equal(refused.status, 400);
  assert.equal(refused.headers.get("content-type"), "application/json");
});

test("a stream of HttpBody messages is sent as their bytes in order, with the content type of the first", async () => {
  await using server = await openTestStreams();
  for (const accept of ["*/*", "text/event-stream"]) {
    const headers = { ...withToken, accept };
    const answer = await fetch(`${server.address}/v1/files?from=1&to=4&size=2`, { headers });
    assert.equal(answer.headers.get("content-type"), "text/csv");
    assert.equal(answer.headers.get("x-count"), "4");
    assert.equal(await answer.text(), "1,xx\n2,xx\n3,xx\n");
    const empty = await fetch(`${server.address}/v1/files`, { headers });
    assert.equal(empty.headers.get("content-type"), "application/octet-stream");
    assert.deepEqual([empty.status, await empty.text()], [200, ""]);
    const refused = await fetch(`${server.address}/v1/files?atEnd=refuse`, { headers });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /NO_MORE/);
  }
});

test("a failed stream of HttpBody messages is aborted, and clients notice that it is incomplete", async (t) => {
  await using server = await openTestStreams();
  // The response is longer than what is sent in one step, so the failure occurs in the middle.
  const path = "/v1/files?from=1&to=3&size=300000&atEnd=bug";
  // Over HTTP/1.1, there is no last chunk.
  const socket = connect(Number(new URL(server.address).port), "127.0.0.1").setEncoding("latin1");
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
  const text = (await Array.fromAsync(socket)).join("");
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.doesNotMatch(text, /\r\n0\r\n\r\n$/);
  await assert.rejects(async () => {
    const answer = await fetch(`${server.address}${path}`, { headers: withToken });
    await answer.text();
  }, TypeError);
  // Over HTTP/2, the stream is reset and the connection stays open.
  const session = connectHttp2(server.address);
  t.after(() => session.destroy());
  const stream = session.request({ ...withToken, ":path": path });
  const failed = once(stream, "error");
  stream.resume();
  await failed.catch(() => {});
  assert.equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
  const next = session.request({ ...withToken, ":path": "/v1/files?to=1" });
  assert.equal((await Array.fromAsync(next.setEncoding("utf8"))).join(""), "0,\n");
  assert.equal(server.bugs.length, 3);
});

test("an HttpBody is received as its bytes, with any content type", async () => {
  await using server = await openTestStreams();
  const put = async (headers: Record<string, string>, body: Uint8Array | undefined) => {
    const answer = await fetch(`${server.address}/v1/file/a%2Fb`, {
      method: "PUT",
      headers: { ...withToken, ...headers },
      ...(body && { body: Buffer.from(body) }),
    });
    return { status: answer.status, json: await answer.json() };
  };
  const bytes = Buffer.from([0, 255, 123]);
  const rows: [type: string | undefined, body: Uint8Array | undefined, json: object][] = [
    ["audio/wav", bytes, { n: 3, name: "a/b:\0ÿ{", contentType: "audio/wav" }],
    [
      "application/json",
      Buffer.from("{"),
      { n: 1, name: "a/b:{", contentType: "application/json" },
    ],
    ["text/plain; charset=x", undefined, { name: "a/b:", contentType: "text/plain; charset=x" }],
    [undefined, bytes, { n: 3, name: "a/b:\0ÿ{" }],
    [undefined, undefined, { n: -1, name: "a/b:", contentType: "none" }],
  ];
  for (const [type, body, json] of rows) {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    assert.deepEqual(await put(headers, body), { status: 200, json });
  }
  // The limit is that of the method. A compressed body does not have the type that the header
  // states.
  assert.equal((await put({}, Buffer.alloc(1_000))).status, 200);
  assert.equal((await put({}, Buffer.alloc(1_001))).status, 413);
  assert.equal((await put({ "content-encoding": "gzip" }, bytes)).status, 415);
  // The same method is called with its complete message as JSON.
  const call = { method: "POST", body: '{"name":"a","file":{"data":"AP8="}}' };
  // fetch sends text/plain.
  const inJson = await fetch(`${server.address}/v1/file`, { ...call, headers: withToken });
  assert.deepEqual(await inJson.json(), { n: 2, name: "a:\0ÿ" });
});

test("an HttpBody that is the whole message is received and sent over both HTTP versions", async (t) => {
  await using server = await openTestStreams();
  const body = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
  const answer = await fetch(`${server.address}/v1/echo`, {
    method: "POST",
    headers: { ...withToken, "content-type": "image/png" },
    body,
  });
  assert.equal(answer.headers.get("content-type"), "image/png");
  assert.deepEqual(Buffer.from(await answer.bytes()), body);
  const session = connectHttp2(server.address);
  t.after(() => session.destroy());
  const stream = session.request({
    ...withToken,
    ":method": "POST",
    ":path": "/v1/echo",
    "content-type": "image/png",
  });
  stream.end(body);
  const [head] = await once(stream, "response");
  assert.equal(head["content-type"], "image/png");
  assert.deepEqual(Buffer.concat(await Array.fromAsync(stream)), body);
});
