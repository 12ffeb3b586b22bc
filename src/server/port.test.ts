import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, Http2ServerResponse } from "node:http2";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { frame, request } from "../../test/access/http2-frames.ts";
import type { HttpListener } from "./http.ts";
import { openPort } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";
import { cpuSlowness } from "../../test/fixtures/cpu-slowness.ts";

/** Responds with the protocol version of the request. */
const echo: HttpListener = (request, response) => {
  response.end(`HTTP/${request.httpVersion}`);
};

async function openEcho(handle: HttpListener = echo) {
  const port = await openPort(
    { host: "127.0.0.1", port: 0 },
    { handle, upgrade: () => {}, refuse: refuseMalformed },
  );
  return { port, number: Number(new URL(port.address).port) };
}

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(socket, "close");
  return text;
}

test("openPort() serves HTTP/1.1 and HTTP/2 on one port", async () => {
  const { port } = await openEcho();
  assert.equal(await (await fetch(port.address)).text(), "HTTP/1.1");
  const session = connectHttp2(port.address);
  const stream = session.request({ ":path": "/" });
  assert.deepEqual(await Array.fromAsync(stream.setEncoding("utf8")), ["HTTP/2.0"]);
  session.close();
  port.close();
  await port.drain();
});

test("openPort() detects HTTP/2 by a preface that arrives in several chunks", async () => {
  const { port, number } = await openEcho();
  const socket = connect(number, "127.0.0.1");
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const cuts = [0, 1, 3, 13, 24];
  for (const [at, from] of cuts.slice(0, -1).entries()) {
    socket.write(preface.slice(from, cuts[at + 1]));
    await delay(5);
  }
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  const [frame] = await once(socket, "data");
  assert.ok(Buffer.isBuffer(frame));
  assert.equal(frame[3], 4, "a SETTINGS frame");
  socket.destroy();
  port.close();
  await port.drain();
});

test("openPort() closes an idle HTTP/2 connection, but not one with a silent call", async () => {
  const waiting: Http2ServerResponse[] = [];
  const port = await openPort(
    { host: "127.0.0.1", port: 0 },
    {
      handle: (request, response) => {
        if (request.url === "/silent" && response instanceof Http2ServerResponse) {
          waiting.push(response);
        } else echo(request, response);
      },
      upgrade: () => {},
      refuse: refuseMalformed,
    },
    { idleMsMax: 500 },
  );
  const [idle, busy] = [connectHttp2(port.address), connectHttp2(port.address)];
  const silent = busy.request({ ":path": "/silent" });
  await Array.fromAsync(idle.request({ ":path": "/" }));
  // Both connections are silent from now on. The idle connection became silent later.
  await once(idle, "close");
  assert.deepEqual([busy.closed, busy.destroyed], [false, false]);
  assert.equal((await Array.fromAsync(busy.request({ ":path": "/" }))).join(""), "HTTP/2.0");
  waiting[0]?.end("at last");
  assert.equal((await Array.fromAsync(silent)).join(""), "at last");
  await once(busy, "close");
  port.close();
  await port.drain();
});

test(
  "openPort() closes a connection whose headers never end",
  { timeout: 20_000 * cpuSlowness },
  async () => {
    const { port, number } = await openEcho();
    const socket = connect(number, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n");
    assert.match(await readAll(socket), /^HTTP\/1.1 408 /);
    port.close();
    await port.drain();
  },
);

test("openPort() survives a client that disconnects before CONNECT is refused", async () => {
  const { port, number } = await openEcho();
  for (let n = 0; n < 20; n += 1) {
    const socket = connect(number, "127.0.0.1");
    await once(socket, "connect");
    socket.write("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
    socket.resetAndDestroy();
  }
  assert.equal(await (await fetch(port.address)).text(), "HTTP/1.1");
  port.close();
  await port.drain();
});

/** Opens a port on which the test decides when a held call is answered. */
async function openHeld() {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const opened = await openEcho((request, response) => {
    if (request.url !== "/held") {
      echo(request, response);
      return;
    }
    begun.resolve();
    void held.promise.then(() => response.end("done"));
  });
  const call = fetch(`${opened.port.address}/held`);
  const answer = call.then((response) => response.text());
  await begun.promise;
  return { ...opened, answer, letGo: () => held.resolve() };
}

/**
 * Opens an HTTP/1.1 connection that is kept alive. Each call resolves with the headers of its
 * response.
 */
function openKept(number: number) {
  const socket = connect(number, "127.0.0.1").setEncoding("utf8");
  return {
    socket,
    async call(path = "/") {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      let text = "";
      while (!text.includes("HTTP/1.1", 1)) {
        const [part] = await once(socket, "data");
        text += String(part);
      }
      return text;
    },
  };
}

test("Port.drain() waits for a call in flight, accepts new calls until that call ends, and then stops listening", async () => {
  const { port, answer, letGo } = await openHeld();
  const drained = port.drain();
  const late = await fetch(port.address);
  assert.equal(await late.text(), "HTTP/1.1");
  assert.equal(late.headers.get("connection"), "close");
  letGo();
  assert.equal(await answer, "done");
  await drained;
  await assert.rejects(fetch(port.address));
});

test("Port.drain() responds to requests on idle connections with Connection: close, and closes the other connections", async () => {
  const { port, number, answer, letGo } = await openHeld();
  const [used, idle] = [openKept(number), openKept(number)];
  for (const kept of [used, idle]) assert.doesNotMatch(await kept.call(), /connection: close/i);
  const closed = [used, idle].map(({ socket }) => once(socket, "close"));
  const drained = port.drain();
  assert.match(await used.call(), /connection: close/i);
  letGo();
  await Promise.all([...closed, drained, answer]);
});

/** Yields the frames that an HTTP/2 client receives. */
async function* framesOf(socket: Socket) {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3);
      yield { type: bytes[3], stream: bytes.readUInt32BE(5), payload: bytes.subarray(9, end) };
      bytes = bytes.subarray(end);
    }
  }
}

test("Port.drain() sends GOAWAY over HTTP/2, and still accepts calls that were already sent", async () => {
  const { port, number, answer, letGo } = await openHeld();
  const socket = connect(number, "127.0.0.1");
  const [headers, goaway] = [1, 7];
  const call = { ":method": "GET", ":path": "/" };
  const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  // Node's own client makes no call after a GOAWAY, so the test writes raw frames.
  socket.write(Buffer.concat([preface, frame("SETTINGS", 0), request(1, call)]));
  const lastStreams: number[] = [];
  const answered: number[] = [];
  let drained: Promise<void> | undefined;
  for await (const { type, stream, payload } of framesOf(socket)) {
    if (type === goaway) lastStreams.push(payload.readUInt32BE(0));
    if (type === headers) answered.push(stream);
    if (answered.length === 1) drained ??= port.drain();
    if (type === goaway && lastStreams.length === 1) socket.write(request(3, call));
    if (answered.length === 2) letGo();
  }
  await Promise.all([drained, answer]);
  // Node sends the final GOAWAY twice.
  assert.deepEqual([...new Set(lastStreams)], [2 ** 31 - 1, 3]);
  assert.deepEqual(answered, [1, 3]);
});

test("Port.drain() does not interrupt HTTP/2 responses that are being sent", async () => {
  const size = 4_000_000;
  const { port } = await openEcho((_, response) => {
    response.end(Buffer.alloc(size, 7));
  });
  const session = connectHttp2(port.address);
  const streams = [1, 2, 3].map(() => session.request({ ":path": "/" }));
  const received = streams.map(async (stream) => Buffer.concat(await stream.toArray()));
  const [first] = streams;
  await once(first ?? assert.fail(), "readable");
  const drained = port.drain();
  for (const bytes of await Promise.all(received)) assert.ok(bytes.equals(Buffer.alloc(size, 7)));
  await drained;
});

test(
  "Port.drain() does not wait for connections that send nothing",
  { timeout: 8_000 * cpuSlowness },
  async () => {
    const { port, number } = await openEcho();
    const socket = connect(number, "127.0.0.1");
    await once(socket, "connect");
    const closed = once(socket, "close");
    await Promise.all([port.drain(), closed]);
  },
);
