import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { LivingSocket } from "./living-socket.ts";

test("LivingSocket writes the messages of one turn of the event loop at once, in order", async () => {
  await using pair = await openPair();
  const { living, raw, client } = pair;
  const received: string[] = [];
  client.on("message", (data: Buffer) => received.push(data.toString()));
  const sent = ["a", "b", "c", "d"];
  for (const text of sent) void living.send(text);
  const waiting = raw.writableLength;
  assert.ok(waiting >= sent.length * 3, `${waiting} bytes wait: each frame has 3`);
  // What a promise of this turn sends goes with it.
  await Promise.resolve();
  void living.send("e");
  assert.equal(raw.writableLength, waiting + 3);
  await new Promise(setImmediate);
  assert.equal(raw.writableCorked, 0);
  // The last message and the close frame are of one turn.
  void living.send("f");
  living.closeSoon(1000, "done");
  const [code, reason] = await once(client, "close");
  assert.deepEqual([code, String(reason)], [1000, "done"]);
  assert.deepEqual(received, [...sent, "e", "f"]);
});

test("LivingSocket waits for a client that has received too little", async () => {
  await using pair = await openPair();
  const { living, client } = pair;
  const text = "x".repeat(200_000);
  assert.equal(living.send(text), undefined);
  const sending = living.send(text);
  assert.ok(sending, "400 kB wait");
  const [first] = await once(client, "message");
  assert.equal(String(first).length, text.length);
  await sending;
});

interface Pair extends AsyncDisposable {
  readonly living: LivingSocket;
  readonly raw: Duplex;
  readonly client: WebSocket;
}

/** Opens a socket on this machine. */
async function openPair(): Promise<Pair> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const opened = new Promise<Pick<Pair, "living" | "raw">>((resolve) => {
    server.on("upgrade", (request, raw, head) => {
      sockets.handleUpgrade(request, raw, head, (socket) => {
        resolve({ raw, living: new LivingSocket(socket, raw) });
      });
    });
  });
  const { port }: AddressInfo = Object(server.address());
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const { living, raw } = await opened;
  await once(client, "open");
  return {
    living,
    raw,
    client,
    async [Symbol.asyncDispose]() {
      client.terminate();
      raw.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
