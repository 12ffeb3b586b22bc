import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { WebSocket } from "ws";
import { connectFailure } from "../../test/fixtures/connect-failure.ts";
import { Streams } from "../../test/gen/streams_pb.ts";
import { openTestStreams, token, type TestStreams } from "../../test/fixtures/open-test-streams.ts";
import { until } from "../../test/fixtures/until.ts";
import { ServiceError } from "../std/service-error.ts";

const authorization = `Bearer ${token}`;
const headers = { authorization };
const revoked = new ServiceError("unauthenticated", "it was revoked", { reason: "TOKEN_INVALID" });
const sentReason = /"code":16,"message":"it was revoked"/;

let server: TestStreams;
before(async () => {
  server = await openTestStreams();
});
after(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  Object.assign(server.seen, { asked: 0, over: 0, reasons: [] });
});

/** Waits for this number of streams and ends them. */
async function revoke(count: number): Promise<void> {
  const { watched } = server.seen;
  await until(async () => await Promise.resolve(watched.size === count));
  for (const end of watched) end(revoked);
}

/** Asserts that no callers or streams remain. */
async function assertOver(count: number): Promise<void> {
  const { seen } = server;
  await until(async () => await Promise.resolve(seen.over === count && seen.watched.size === 0));
  assert.deepEqual(server.bugs, []);
}

test("a revoked server stream over REST ends with the reason as its last message", async () => {
  const url = `${server.address}/v1/count/1?to=2&atEnd=hang`;
  const lines = await fetch(url, { headers });
  const events = await fetch(url, { headers: { ...headers, accept: "text/event-stream" } });
  await revoke(2);
  assert.match(
    await lines.text(),
    new RegExp(`^{"result":{"n":1}}\n{"error":.*${sentReason.source}`),
  );
  assert.match(await events.text(), new RegExp(`id: end\ndata: {"error":.*${sentReason.source}`));
  await assertOver(2);
  assert.deepEqual(server.seen.reasons, [revoked, revoked], "the method is aborted");
});

test("a revoked silent stream whose method ignores its signal gets the HTTP status", async () => {
  const answer = fetch(`${server.address}/v1/count/1?to=1&atEnd=deaf`, { headers });
  await revoke(1);
  assert.equal((await answer).status, 401);
  server.seen.watched.clear();
});

test("revoked gRPC and Connect streams end with the reason, even while they wait for messages", async () => {
  const baseUrl = server.address;
  const transports = [
    createGrpcTransport({ baseUrl }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  ];
  const failures = transports.flatMap((transport) => {
    const client = createClient(Streams, transport);
    async function* talking() {
      yield { from: 1 };
      await new Promise(() => {});
    }
    return [
      Array.fromAsync(client.count({ from: 1, to: 2, atEnd: "hang" }, { headers })),
      Array.fromAsync(client.talk(talking(), { headers })),
    ];
  });
  const seen = Promise.all(failures.map(async (failure) => connectFailure(failure)));
  await revoke(4);
  for (const { code, rawMessage } of await seen) {
    assert.deepEqual([code, rawMessage], [Code.Unauthenticated, "it was revoked"]);
  }
  await assertOver(4);
  assert.ok(server.seen.reasons.includes(revoked), "the method is aborted");
});

test("a revoked WebSocket gets an error and 1008, even if its method ignores its signal", async () => {
  const socket = new WebSocket(`${server.address.replace("http", "ws")}/v1/talk?token=${token}`);
  const messages: string[] = [];
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  await once(socket, "open");
  socket.send(`{"from":1}`);
  await until(async () => await Promise.resolve(messages.length === 1));
  await revoke(1);
  const [code] = await once(socket, "close");
  assert.equal(code, 1008);
  assert.match(messages.at(-1) ?? "", sentReason);
  await assertOver(1);
});

test("revoked clients that read nothing are soon disconnected, and nothing of their calls remains", async (t) => {
  const path = "/v1/count/0?to=100000&size=10000";
  const lines = openSocket(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}`);
  const session = connectHttp2(server.address).on("error", () => {});
  t.after(() => session.destroy());
  const events = session.request({ ...headers, ":path": path });
  const grpc = session.request({
    ...headers,
    ":method": "POST",
    ":path": "/streams.v1.Streams/Count",
    "content-type": "application/grpc",
    te: "trailers",
  });
  // The frame contains to=100000 and size=10000.
  grpc.end(Buffer.from([0, 0, 0, 0, 7, 0x10, 0xa0, 0x8d, 0x06, 0x18, 0x90, 0x4e]));
  const cut = [events, grpc].map(async (stream) => {
    stream.on("error", () => {});
    await new Promise((resolve) => stream.once("close", resolve));
    return stream.rstCode;
  });
  // The client never answers the close frame.
  const handshake =
    "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==";
  const socket = openSocket(`GET /v1/talk?token=${token} HTTP/1.1\r\nhost: x\r\n${handshake}`);
  socket.resume();
  const closed = once(socket, "close");
  await until(async () => await Promise.resolve(server.seen.asked > 3));
  await revoke(4);
  await assertOver(4);
  assert.deepEqual(await Promise.all(cut), [
    constants.NGHTTP2_INTERNAL_ERROR,
    constants.NGHTTP2_INTERNAL_ERROR,
  ]);
  await closed;
  lines.destroy();
});

function openSocket(head: string): Socket {
  const socket = connect(Number(new URL(server.address).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`${head}\r\n\r\n`);
  return socket;
}
