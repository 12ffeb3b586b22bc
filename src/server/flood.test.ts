// Tests HTTP clients that send faster than the node can process. The port reads bounded parts, and
// serves other clients in between.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { request as send } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { frame, request } from "../../test/access/http2-frames.ts";
import { until } from "../../test/fixtures/until.ts";
import { ServiceError } from "../std/service-error.ts";
import { answerFailure } from "./answer-failure.ts";
import type { HttpListener } from "./http.ts";
import { giveUpReading } from "./request-body.ts";
import { pipelinedMax } from "./http1-connection.ts";
import { openPort, type Port } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";

const curl = promisify(execFile);
const large = Buffer.alloc(16 << 20, " ");

/**
 * The number of body bytes that were passed on, followed by counters of received bytes and running
 * calls.
 */
let taken = 0;
let readBytes = 0;
let running = 0;
let runningMax = 0;
const letGo: (() => void)[] = [];

const handle: HttpListener = (call, response) => {
  running += 1;
  runningMax = Math.max(runningMax, running);
  response.once("finish", () => (running -= 1));
  const { url, socket } = call;
  response.once("close", () => (readBytes = socket?.bytesRead ?? 0));
  if (url === "/refused") answerFailure(response, new ServiceError("not_found", "not here"));
  else if (url === "/answered") {
    response.once("finish", () => void giveUpReading(response));
    response.end("early");
  } else if (url === "/held") letGo.push(() => response.end("at last"));
  else if (url === "/read") {
    call.on("data", (chunk: Buffer) => (taken += chunk.length));
    call.on("end", () => response.end("whole"));
  } else response.end("ok");
};

let port: Port;
let number: number;
before(async () => {
  const doors = { handle, upgrade: () => {}, refuse: refuseMalformed };
  port = await openPort({ host: "127.0.0.1", port: 0 }, doors);
  number = Number(new URL(port.address).port);
});
after(async () => {
  port.close();
  await port.drain();
});

function open(): Socket {
  return connect(number, "127.0.0.1").on("error", () => {});
}

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  // events.once() would reject if the connection were reset.
  await new Promise((resolve) => void socket.once("close", resolve));
  return text;
}

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

test("a refused body of 16 MB is not read to its end, and node:http, fetch and curl receive the error", async () => {
  const answered = new Promise<number | undefined>((resolve, reject) => {
    const call = send(`${port.address}/refused`, { method: "POST" }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on("error", reject);
    call.write(large);
  });
  assert.equal(await answered, 404);
  const fetched = await fetch(`${port.address}/refused`, { method: "POST", body: large });
  assert.equal(fetched.status, 404);
  assert.match(await fetched.text(), /not here/);
  const options = ["-s", "--data-binary", "@-", "-H", "Expect:", `${port.address}/refused`];
  const running = curl("curl", options);
  running.child.stdin?.on("error", () => {}).end(large);
  assert.match((await running).stdout, /not here/);
});

for (const path of ["/refused", "/answered"]) {
  test(`at most about 1 MB of an unread body is read from its connection (${path})`, async () => {
    const socket = open();
    const text = readAll(socket);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${64 << 20}\r\n\r\n`);
    for (let n = 0; n < 4 && !socket.destroyed; n += 1) socket.write(large);
    const answer = await text;
    assert.match(answer, path === "/refused" ? /^HTTP\/1.1 404 [^]*connection: close/i : /early/);
    // The limit covers the bytes that arrived in the first turn, plus a megabyte.
    assert.ok(readBytes < 4 << 20, `${readBytes} bytes were read`);
  });
}

test("a short refused body leaves its connection open", async () => {
  const socket = open();
  const text = readAll(socket);
  socket.write("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.match(await text, /^HTTP\/1.1 404 [^]*HTTP\/1.1 200 OK/);
});

test("one connection delivers a bounded part of a body in each turn of the event loop", async () => {
  const parts: number[] = [];
  taken = 0;
  const over = new AbortController();
  const watch = (async () => {
    for (let before = 0; !over.signal.aborted; before = taken) {
      await turn();
      parts.push(taken - before);
    }
  })();
  const answer = await fetch(`${port.address}/read`, { method: "POST", body: large });
  assert.equal(await answer.text(), "whole");
  over.abort();
  await watch;
  assert.equal(taken, large.length);
  assert.ok(Math.max(...parts) <= 256 << 10, `${Math.max(...parts)} bytes came in one turn`);
});

test("pipelined HTTP/1.1 requests are answered one at a time, in order", async () => {
  runningMax = 0;
  const socket = open();
  const text = readAll(socket);
  const paths = ["/held", "/", "/", "/held", "/"];
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  for (let n = 0; n < 2; n += 1) {
    await until(async () => letGo.length > 0);
    letGo.shift()?.();
  }
  socket.write("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.deepEqual((await text).match(/at last|ok$|ok(?=HTTP)/g), [
    "at last",
    "ok",
    "ok",
    "at last",
    "ok",
    "ok",
  ]);
  assert.equal(runningMax, 1);
});

test("a connection with more than 16 waiting requests is closed", async () => {
  runningMax = 0;
  const socket = open();
  socket.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n" + get.repeat(500));
  assert.equal(await readAll(socket), "");
  assert.equal(runningMax, 1);
  letGo.length = 0;
});

test("a body in chunks of one byte is refused with a reason", async () => {
  const socket = open();
  const text = readAll(socket);
  socket.write(chunked + "1\r\n \r\n".repeat(5_000));
  const answer = await text;
  assert.match(answer, /^HTTP\/1.1 400 /);
  assert.match(answer, /PIECES_TOO_SMALL/);
});

test("small chunks that arrive slowly, and many short bodies, are accepted", async () => {
  const socket = open().setEncoding("latin1");
  let text = "";
  socket.on("data", (part: string) => (text += part));
  let answers = 0;
  const answered = async (count: number): Promise<void> => {
    answers += count;
    await until(async () => (text.match(/whole/g)?.length ?? 0) === answers);
  };
  socket.write(chunked + "1\r\n \r\n".repeat(900) + "0\r\n\r\n");
  await answered(1);
  const short = "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
  for (let n = 0; n < 80; n += 1) {
    socket.write(short.repeat(pipelinedMax));
    await answered(pipelinedMax);
  }
  socket.destroy();
});

const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame("SETTINGS", 0),
]);

test("a connection is closed with a reason if an HTTP/2 body arrives in frames of one byte", async () => {
  const socket = open();
  const text = readAll(socket);
  const byte = frame("DATA", 1, Buffer.from(" "));
  const post = request(1, { ":method": "POST", ":path": "/read" });
  socket.write(preface);
  await once(socket, "data");
  socket.write(Buffer.concat([post, ...Array.from({ length: 5_000 }, () => byte)]));
  assert.match(await text, /send larger pieces/);
});

test("a connection is closed if its HTTP/2 calls are cancelled as fast as they are created", async () => {
  const socket = open();
  const text = readAll(socket);
  const cancel = Buffer.from("00000008", "hex");
  const calls = Array.from({ length: 300 }, (_, at) => [
    request(2 * at + 1, { ":method": "GET", ":path": "/held" }),
    frame("RST_STREAM", 2 * at + 1, cancel),
  ]);
  socket.write(Buffer.concat([preface, ...calls.flat()]));
  await text;
  // Most of the calls that arrived in one turn were never started.
  assert.ok(letGo.length <= 64, `${letGo.length} were started`);
  letGo.length = 0;
});

test("an HTTP/2 client that is refused receives the error while it is sending 4 MB", async () => {
  const session = connectHttp2(port.address);
  const stream = session.request({ ":method": "POST", ":path": "/refused" });
  const status = once(stream, "response").then(([headers]) => String(headers[":status"]));
  stream.on("error", () => {}).resume();
  // Node's client does not buffer more than this.
  stream.write(large.subarray(0, 4 << 20));
  assert.equal(await status, "404");
  session.destroy();
});
