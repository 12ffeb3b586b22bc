import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { connect as connectHttp2, Http2ServerResponse } from "node:http2";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { HttpListener } from "./http.ts";
import { openPort } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";

/** Answers with the protocol version it was asked in. */
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

test("openPort() answers HTTP/1.1 and HTTP/2 on one port", async () => {
  const { port } = await openEcho();
  assert.equal(await (await fetch(port.address)).text(), "HTTP/1.1");
  const session = connectHttp2(port.address);
  const stream = session.request({ ":path": "/" });
  assert.deepEqual(await Array.fromAsync(stream.setEncoding("utf8")), ["HTTP/2.0"]);
  session.close();
  port.close();
  await port.drain();
});

test("openPort() knows HTTP/2 by a preface that comes in pieces", async () => {
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

test("openPort() lets an idle HTTP/2 connection go, but none with a call that is silent", async () => {
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
  // Both are silent from now on; the idle one had the later start.
  await once(idle, "close");
  assert.deepEqual([busy.closed, busy.destroyed], [false, false]);
  assert.equal((await Array.fromAsync(busy.request({ ":path": "/" }))).join(""), "HTTP/2.0");
  waiting[0]?.end("at last");
  assert.equal((await Array.fromAsync(silent)).join(""), "at last");
  await once(busy, "close");
  port.close();
  await port.drain();
});

test("openPort() closes a connection whose headers never end", { timeout: 20_000 }, async () => {
  const { port, number } = await openEcho();
  const socket = connect(number, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n");
  assert.match(await readAll(socket), /^HTTP\/1.1 408 /);
  port.close();
  await port.drain();
});

test("openPort() outlives whoever goes away before it is told that this is no proxy", async () => {
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

test("Port.drain() lets a call in flight end and takes no new connection", async () => {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { port } = await openEcho((_, response) => {
    begun.resolve();
    void held.promise.then(() => response.end("done"));
  });
  const answer = new Promise<string>((resolve, reject) => {
    get(port.address, (response) => {
      void Array.fromAsync(response.setEncoding("utf8")).then((parts) => {
        resolve(parts.join(""));
      });
    }).on("error", reject);
  });
  await begun.promise;
  const drained = port.drain();
  await assert.rejects(fetch(port.address));
  held.resolve();
  assert.equal(await answer, "done");
  await drained;
});
