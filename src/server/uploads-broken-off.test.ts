import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, constants, type ClientHttp2Session } from "node:http2";
import { connect as connectSocket } from "node:net";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { setInterval } from "node:timers/promises";
import { openTestMediaDoor, wav } from "../../test/fixtures/open-test-media-door.ts";
import { cpuSlowness } from "../../test/fixtures/cpu-slowness.ts";

const door = await openTestMediaDoor();
after(async () => {
  await door[Symbol.asyncDispose]();
});
const { app, bases, send, newUpload, mediaCount, untilWriting, assertNothingLeft } = door;

/**
 * The kinds of interrupted uploads. Each begins a PUT of 1000 bytes and does not complete it.
 */
const breaks: Record<string, (target: string) => Promise<void>> = {
  "a connection that is reset": async (target) => {
    const socket = await begin1(target, "Content-Length: 5000");
    socket.resetAndDestroy();
  },
  "a connection that ends before Content-Length": async (target) => {
    const socket = await begin1(target, "Content-Length: 5000");
    socket.end();
    await once(socket.resume(), "close");
  },
  "chunks without the last one": async (target) => {
    const socket = await begin1(target, "Transfer-Encoding: chunked");
    socket.end();
    await once(socket.resume(), "close");
  },
  "an HTTP/2 stream that is reset": async (target) => {
    const socket = connectSocket(Number(new URL(bases["HTTP/2"]).port), "127.0.0.1");
    const client = connect(bases["HTTP/2"], { createConnection: () => socket });
    beginPut(client, { ":path": target }).write(wav(1000));
    await untilWriting(1);
    // The bytes of an RST_STREAM frame for stream 1 with CANCEL.
    socket.write(Buffer.from("00000403000000000100000008", "hex"));
    client.close();
  },
  "an HTTP/2 stream that ends and is reset immediately": async (target) => {
    const client = connect(bases["HTTP/2"]);
    const stream = beginPut(client, { ":path": target });
    stream.write(wav(1000));
    await untilWriting(1);
    // Node's client ends a stream before resetting it.
    stream.close(constants.NGHTTP2_CANCEL);
    client.close();
  },
  "an HTTP/2 connection that is cut": async (target) => {
    const client = connect(bases["HTTP/2"]);
    beginPut(client, { ":path": target }).write(wav(1000));
    await untilWriting(1);
    client.destroy();
  },
  "an HTTP/2 stream shorter than its Content-Length": async (target) => {
    const client = connect(bases["HTTP/2"]);
    const stream = beginPut(client, { ":path": target, "content-length": "5000" });
    stream.end(wav(1000));
    await new Promise((resolve) => stream.resume().once("close", resolve));
    client.close();
  },
};

function beginPut(client: ClientHttp2Session, headers: Record<string, string>) {
  client.on("error", () => {});
  return client.request({ ":method": "PUT", ...headers }).on("error", () => {});
}

async function begin1(target: string, length: string) {
  const { hostname, port } = new URL(bases["HTTP/1.1"]);
  const socket = connectSocket(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(`PUT ${target} HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
  if (length.startsWith("Transfer")) socket.write("3e8\r\n");
  socket.write(wav(1000));
  await untilWriting(1);
  return socket;
}

for (const [what, breakOff] of Object.entries(breaks)) {
  test(
    `PUT stores nothing of ${what}, and the URL can be used again`,
    { timeout: 10_000 * cpuSlowness },
    async () => {
      const count = await mediaCount();
      const { name, url } = await newUpload();
      const { pathname, search } = new URL(url);
      await breakOff(pathname + search);
      await untilWriting(0);
      await assertNothingLeft(count);
      assert.equal((await app.client.get(name)).uri, "");
      assert.equal((await send("HTTP/1.1", "PUT", url, { body: wav(50) })).status, 200);
      await assertNothingLeft(count + 1);
    },
  );
}

test(
  "a PUT that arrives too slowly is aborted after a while",
  { timeout: 20_000 * cpuSlowness },
  async () => {
    await using slow = await openTestMediaDoor({ uploadMsMax: 900, idleMsMax: 400 });
    const rows: [bytes: number, problem: RegExp][] = [
      [1000, /not complete after/],
      [1, /arrived more slowly than 1024 bytes a second/],
    ];
    for (const [bytes, problem] of rows) {
      const { url } = await slow.newUpload();
      // Sends endlessly, and often enough that the upload does not count as stalled.
      const trickle = async function* () {
        for await (const _ of setInterval(50)) yield Buffer.alloc(bytes);
      };
      const body = Readable.from(trickle());
      const answer = await slow.send("HTTP/2", "PUT", url, { body });
      body.destroy();
      assert.equal(answer.status, 504);
      assert.match(answer.body.toString(), problem);
      await slow.assertNothingLeft(0);
    }
  },
);
