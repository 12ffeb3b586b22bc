import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { WebSocket } from "ws";
import { RawConnection } from "../../test/fixtures/raw-http.ts";
import { testCaller, unwatched } from "../../test/fixtures/test-caller.ts";
import { until } from "../../test/fixtures/until.ts";
import { Speech, type StreamingRecognizeRequest } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { implemented } from "./methods.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { openServer } from "./server.ts";

/**
 * The memory limit for an account's bodies in this test. Each stalled body has sent `sentBytes`,
 * and may use half as much again.
 */
const accountBytesMax = 2_000_000;
const sentBytes = 1_000_000;

/**
 * Opens a Speech service that ignores audio, for the accounts "one" and "other". The names of the
 * accounts are their tokens.
 */
async function openSpeech() {
  const speech = implemented(Speech, {
    recognize: () => ({}),
    async *streamingRecognize(requests: AsyncIterable<StreamingRecognizeRequest>) {
      for await (const _ of requests) yield {};
    },
    listModels: () => ({}),
  });
  const authenticator: Authenticator = {
    authenticate: ({ headers }) => {
      const account = headers.get("authorization")?.replace("Bearer ", "");
      if (account === "one" || account === "other") {
        return Promise.resolve(testCaller(account, ["speech"]));
      }
      return Promise.reject(new ServiceError("unauthenticated", "no token"));
    },
    ...unwatched,
  };
  const requestBytes = {
    nodeBytesMax: 4 << 20,
    accountBytesMax,
    reason: "BODIES_FULL",
    what: "request bodies",
  };
  return await openServer(
    { host: "127.0.0.1", port: 0 },
    {
      api: { services: [speech], authenticator },
      traffic: { requestBytes },
      log: createLog("silent"),
    },
  );
}

const recognize = "/v2beta1/speech:recognize";
const rpc = "/hlust.speech.v2beta1.Speech/Recognize";

/** Sends part of a body, and stalls. `undo` cancels the request. */
type Stall = (address: string) => Promise<{ readonly undo: () => void }>;

async function stallHttp1(address: string, path: string): Promise<{ undo: () => void }> {
  const connection = await RawConnection.open(address);
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: h",
    "authorization: Bearer one",
    "content-type: application/json",
    "content-length: 4000000",
  ];
  connection.send(Buffer.from(`${head.join("\r\n")}\r\n\r\n`));
  connection.send(Buffer.alloc(sentBytes, " "));
  return { undo: () => void connection[Symbol.asyncDispose]() };
}

const stalls: Record<string, Stall> = {
  REST: (address) => stallHttp1(address, recognize),
  Connect: (address) => stallHttp1(address, rpc),
  async gRPC(address) {
    const session = connectHttp2(address);
    session.on("error", () => {});
    const stream = session.request({
      ":method": "POST",
      ":path": rpc,
      authorization: "Bearer one",
      "content-type": "application/grpc",
    });
    stream.on("error", () => {});
    const head = Buffer.from([0, 0, 0, 0, 0]);
    head.writeUInt32BE(4_000_000, 1);
    stream.write(Buffer.concat([head, Buffer.alloc(sentBytes)]));
    return { undo: () => session.destroy() };
  },
  async WebSocket(address) {
    const { port } = new URL(address);
    const socket: Socket = connect(Number(port), "127.0.0.1");
    const head = [
      "GET /v2beta1/speech:streamingrecognize HTTP/1.1",
      "host: h",
      "authorization: Bearer one",
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await once(socket, "data");
    // The frame announces a text of two million bytes, masked with zeros.
    const frame = Buffer.alloc(14);
    frame.set([0x81, 0xff]);
    frame.writeBigUInt64BE(2_000_000n, 2);
    socket.write(Buffer.concat([frame, Buffer.alloc(sentBytes, " ")]));
    return { undo: () => socket.destroy() };
  },
};

test("on every protocol, stalled bodies use at most their account's memory limit and do not affect other accounts", async () => {
  await using server = await openSpeech();
  const call = async (account: string) => {
    const response = await fetch(`${server.address}${recognize}`, {
      method: "POST",
      headers: { authorization: `Bearer ${account}`, "content-type": "application/json" },
      body: JSON.stringify({ audio: { content: "A".repeat(600_000) } }),
    });
    return {
      status: response.status,
      retry: response.headers.get("retry-after") ?? "",
      text: await response.text(),
    };
  };
  for (const [door, stall] of Object.entries(stalls)) {
    let stalled = await stall(server.address);
    let refused = { status: 0, retry: "", text: "" };
    await until(async () => {
      refused = await call("one");
      if (refused.status === 429) return true;
      // The call came first, so the other body was refused.
      stalled.undo();
      stalled = await stall(server.address);
      return false;
    });
    assert.match(refused.text, /BODIES_FULL/, door);
    assert.match(refused.text, /RetryInfo/, door);
    assert.equal(refused.retry, "1", door);
    assert.equal((await call("other")).status, 200, door);
    stalled.undo();
    await until(async () => (await call("one")).status === 200);
  }
});

test("gRPC, Connect and WebSocket clients get an error when the bodies of their account use too much memory", async () => {
  await using server = await openSpeech();
  let stalled = await stallHttp1(server.address, recognize);
  const unary = async () => {
    const response = await fetch(`${server.address}${rpc}`, {
      method: "POST",
      headers: { authorization: "Bearer one", "content-type": "application/json" },
      body: JSON.stringify({ audio: { content: "A".repeat(600_000) } }),
    });
    return { status: response.status, text: await response.text() };
  };
  await until(async () => {
    if ((await unary()).status === 429) return true;
    stalled.undo();
    stalled = await stallHttp1(server.address, recognize);
    return false;
  });
  assert.match((await unary()).text, /"code":"resource_exhausted"/);

  const url = `${server.address.replace("http", "ws")}/v2beta1/speech:streamingrecognize`;
  const socket = new WebSocket(url, { headers: { authorization: "Bearer one" } });
  await once(socket, "open");
  const message = once(socket, "message");
  const closed = once(socket, "close");
  socket.send(JSON.stringify({ audioContent: "A".repeat(1_040_000) }));
  const [text] = await message;
  assert.match(String(text), /BODIES_FULL/);
  const [code] = await closed;
  assert.equal(code, 1013);
  stalled.undo();
});

test("a WebSocket refuses a message with too many values", async () => {
  await using server = await openSpeech();
  const url = `${server.address.replace("http", "ws")}/v2beta1/speech:streamingrecognize`;
  const socket = new WebSocket(url, { headers: { authorization: "Bearer one" } });
  await once(socket, "open");
  const message = once(socket, "message");
  const phrases = Array.from({ length: 100_000 }, () => "");
  socket.send(JSON.stringify({ streamingConfig: { config: { speechContexts: [{ phrases }] } } }));
  const [text] = await message;
  assert.match(String(text), /more than 5000 values/);
  const [code] = await once(socket, "close");
  assert.equal(code, 1007);
});

test("no protocol reads a body without a token", async () => {
  await using server = await openSpeech();
  for (const path of [recognize, rpc]) {
    await using connection = await RawConnection.open(server.address);
    const head = [
      `POST ${path} HTTP/1.1`,
      "host: h",
      "content-type: application/json",
      "content-length: 4000000",
    ];
    connection.send(Buffer.from(`${head.join("\r\n")}\r\n\r\n{`));
    assert.equal((await connection.answer())?.status, 401, path);
  }
});
