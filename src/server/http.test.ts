import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import { ServiceError } from "../std/service-error.ts";
import { readBody } from "./request-body.ts";
import { createMessageReading } from "./message-reading.ts";

const { held } = createMessageReading();

test("readBody() does not wait for a client that disconnected before the call", async (t) => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const server = createServer((request) => {
    request.once("close", () => {
      // The response follows one turn of the event loop later, as after an await.
      setImmediate(() => {
        readBody(request, 100, held.hold("one")).catch(resolve);
      });
    });
  });
  t.after(() => {
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port }: AddressInfo = Object(server.address());
  const socket = connect(port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\n");
  await once(server, "request");
  socket.destroy();
  const error = await promise;
  assert.ok(error instanceof ServiceError && error.code === "cancelled");
});
